/** The library: decisions, the folder store, the engine and the tools, for programs that bring their own surface. */
export { chooseAgent } from "./compose/agent-choice.ts";
export { createEngine, newLoopId, thisRunner } from "./compose/engine.ts";
export { openObserver } from "./compose/observe.ts";
export { openStore } from "./compose/open-store.ts";
export { parseClaims, parseVerdict } from "./core/claims/claims.ts";
export { decide } from "./core/decide.ts";
export type { Decision, Effect, LoopEvent, Outcome } from "./core/event.ts";
export { createGoal, type GoalDraft } from "./core/goal/create.ts";
export type { Criterion, Evidence, Goal, Receipt } from "./core/goal/goal.ts";
export type { Cadence, Fire, FireId, Loop, LoopId, Task } from "./core/loop.ts";
export { type Score, scoreSpec } from "./core/spec/rubric.ts";
export { createTask, type TaskDraft } from "./core/task/decide-task.ts";
export { type Plan, planCron, planTask } from "./core/task/plan.ts";
export { nextFireAt } from "./core/task/slots.ts";
export { renderCadence } from "./core/text/human.ts";
export { type GoalView, viewEnd, viewGoal } from "./core/views/goal-view.ts";
export type { LoopView } from "./core/views/loop-view.ts";
export { type TaskView, viewTask } from "./core/views/task-view.ts";
export { Engine, type EngineNews, type EngineParts } from "./engine/engine.ts";
export { addGoal, allGoals, findGoal, requestGoal } from "./engine/goals/goals.ts";
export { addTask, draftTask, findTask, requestEvent, type TaskDefaults } from "./engine/tasks/tasks.ts";
export { LoopError } from "./errors.ts";
export { type Change, type Listing, type LoopsSnapshot, Observer } from "./observe/observer.ts";
export type * from "./ports/agent.ts";
export type * from "./ports/checkpoints.ts";
export type * from "./ports/checks.ts";
export type * from "./ports/clock.ts";
export type * from "./ports/notifier.ts";
export type * from "./ports/store.ts";
export { type Config, configSchema, parseConfig } from "./schema/config.ts";
export { FolderStore } from "./store/folder/folder-store.ts";
export { ensureLoopDir, findProject } from "./store/folder/loop-dir.ts";
export {
  cronCreate,
  cronCreateInput,
  cronDelete,
  cronDeleteInput,
  cronList,
  cronListInput,
  type ToolContext,
  wakeup,
  wakeupInput,
} from "./tools/cron-tools.ts";
export { loopReport, loopReportInput, loopStatus, loopStatusInput } from "./tools/goal-tools.ts";
