/** The messages that we send, in the types of the official package. wire.ts says why only types are used. */
import type {
  CancelNotification,
  CloseSessionRequest,
  InitializeRequest,
  LoadSessionRequest,
  NewSessionRequest,
  PromptRequest,
  RequestPermissionOutcome,
  ResumeSessionRequest,
  SessionUpdate,
  SetSessionConfigOptionRequest,
  SetSessionModeRequest,
} from "@agentclientprotocol/sdk";

export interface AcpRequests {
  readonly initialize: InitializeRequest;
  readonly "session/new": NewSessionRequest;
  readonly "session/load": LoadSessionRequest;
  readonly "session/resume": ResumeSessionRequest;
  readonly "session/close": CloseSessionRequest;
  readonly "session/prompt": PromptRequest;
  readonly "session/set_mode": SetSessionModeRequest;
  readonly "session/set_config_option": SetSessionConfigOptionRequest;
  /** Older agents offer models this way. The protocol now has a config option for it. */
  readonly "session/set_model": { readonly sessionId: string; readonly modelId: string };
}

export interface AcpNotifications {
  readonly "session/cancel": CancelNotification;
}

export type PermissionOutcome = RequestPermissionOutcome;

export type UpdateKind = SessionUpdate["sessionUpdate"];
