import { describe, expect, test } from "vitest";
import { secretsIn } from "../../../src/core/secrets/secret-env.ts";

describe("J7 a value of the environment is secret", () => {
  test.each<[name: string, value: string]>([
    ["GITHUB_TOKEN", "q8Zr41xW"],
    ["ANTHROPIC_API_KEY", "not-a-known-form-4711"],
    ["PGPASSWORD", "s3cr3t-pw"],
    ["MYSQL_PWD", "hunter2hunter2"],
    ["SSHPASS", "Tr0ub4dor&3"],
    ["npm_config__authToken", "0a1b2c3d4e5f"],
    ["npm_config_//registry.example/:_authToken", "0a1b2c3d4e5f"],
    ["clientSecret", "a8f5f167f44f4964e6c998dee827110c"],
    ["AWS_SECRET_ACCESS_KEY", "/bPxRfiCYEXAMPLEKEYwJalrXUtnFEMIK7MDENG+"],
    ["APP_SECRET", "correct-horse-battery-staple"],
    ["SIGNING_KEY", "abcdefghijklmnopqrstuvwxyzabcdef"],
    ["WHATEVER", "kJ8sD0fLq2XzP5vB7nM1tR4wY6uH3gA9"],
    ["CI_REPOSITORY", "https://ci-token:64_bQx9ZpL@gitlab.example/a.git"],
  ])("%s=%s", (name, value) => {
    const found = secretsIn({ [name]: value });
    expect(found.map((secret) => secret.name)).toEqual([name]);
    expect(value).toContain(found[0]?.value);
  });

  test("only the password of an address counts, whatever the name is", () => {
    const env = { DATABASE_URL: "postgres://app:pw-7Gq2xx@db.example:5432/app?ssl=1" };
    expect(secretsIn(env)).toEqual([{ name: "DATABASE_URL", value: "pw-7Gq2xx" }]);
  });

  test("each line of a key counts, without its first and its last line", () => {
    const env = { DEPLOY_KEY: "-----BEGIN KEY-----\nMIIEow91\n  kq83hd7A\n-----END KEY-----\n" };
    expect(secretsIn(env).map(({ value }) => value)).toEqual(["MIIEow91", "kq83hd7A"]);
  });

  test("a value with two names has the first of them", () => {
    const value = "q8Zr41xW";
    expect(secretsIn({ Z_TOKEN: value, A_TOKEN: value })).toEqual([{ name: "A_TOKEN", value }]);
  });
});

describe("J7 a value of the environment is not secret", () => {
  test.each<[name: string, value: string]>([
    ["GITHUB_TOKEN", "short1"],
    ["DB_PASSWORD", "postgres"],
    ["DB_PASSWORD", "changeme"],
    ["API_KEY", "xxxxxxxxxxxx"],
    ["API_KEY", "<your-key-1>"],
    ["API_KEY", "$OTHER_KEY1"],
    ["SECRET_PIN", "12345678"],
    ["TOKEN_EXPIRES", "2026-01-02T03:04:05"],
    ["AUTH_MODE", "oauth2-with-pkce9"],
    ["AUTH", "github-actions"],
    ["SSH_AUTH_SOCK", "/tmp/ssh-XXXXb8Wc1/agent.2211"],
    ["XAUTHORITY", "/run/user/1000/.mutter-Xwaylandauth.8Q3B42"],
    ["GOOGLE_CREDENTIALS", "/home/jane/.config/gcloud/key-2024.json"],
    ["TLS_KEY", "certs/server-2024.pem"],
    ["TOKEN_HOME", "/Users/Jane/Projects2/loopwrightABC/keys"],
    ["KEY_SERVER", "hkps://keys.openpgp.org:443/lookup"],
    ["PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
    ["GOPATH", "/home/jane/Go1x/bin"],
    ["PWD", "/home/jane/AbC123"],
    ["GITHUB_SHA", "9fceb02d0ae598e95dc970b74767f19372d61af8"],
    ["BUILD_HASH", "9fceb02d0ae598e95dc970b74767f19372d61af8"],
    ["LS_COLORS", "rs=0:di=01;34:ln=01;36:mh=00:pi=40;33:so=01;35"],
    ["LSCOLORS", "GxFxCxDxBxegedabagaced"],
    ["TERM_SESSION_ID", "w0t0p0:2F1B3C4D-0A1B-4C2D-8E3F-5A6B7C8D9E0F"],
    ["JAVA_TOOL_OPTIONS", "-Dfile.encoding=UTF8 -Xmx2G"],
    ["IMAGE_TAG", "MyApp-Release-2024.06.15-Build17"],
    ["npm_config_user_agent", "npm/10.8.2 node/v20.20.2 linux x64 workspaces/false"],
    ["npm_package_resolved", "https://registry.example/A1b2C3d4E5f6G7h8I9j0K1l2"],
    ["TOKENIZERS_PARALLELISM", "false-or-true-4"],
    ["GIT_AUTHOR_NAME", "Jane Doe The 2nd"],
    ["COLORTERM", "truecolor"],
    ["LOOP_NONCE", "9fceb02d0ae598e9"],
    ["LOOP_API_KEY", "q8Zr41xWq8Zr41xW"],
    ["CLONE_URL", "https://user@host.example:8443/Path1"],
  ])("%s=%s", (name, value) => {
    expect(secretsIn({ [name]: value })).toEqual([]);
  });
});
