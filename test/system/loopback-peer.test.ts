/** Who holds the other end of a connection: real sockets, of this process. Other processes: test/hosts/mcp. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { isHeldBy } from "../../src/system/loopback-peer.ts";

async function open(host = "127.0.0.1") {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const client = connect((server.address() as AddressInfo).port, host);
  const [socket] = (await once(server, "connection")) as [Socket];
  onTestFinished(() => void [client, socket].map((one) => one.destroy()));
  const { localPort = 0, remotePort = 0 } = socket;
  return { client, connection: { localPort, remotePort } };
}

describe.runIf(process.platform === "linux")("the other end of a connection", () => {
  test.each(["127.0.0.1", "::ffff:127.0.0.1"])(
    "is held by the process that connected to %s",
    async (host) => {
      const { connection } = await open(host);
      expect(await isHeldBy(process.pid, connection)).toBe(true);
      expect(await isHeldBy(process.ppid, connection)).toBe(true);
      const other = spawn("cat", { stdio: ["pipe", "ignore", "ignore"] });
      onTestFinished(() => void other.kill());
      expect(await isHeldBy(other.pid ?? 0, connection)).toBe(false);
    },
  );

  test("is held by nobody after it was closed", async () => {
    const { client, connection } = await open();
    client.destroy();
    await once(client, "close");
    expect(await isHeldBy(process.pid, connection)).toBe(false);
  });

  test("cannot be told for a port that nobody listens on", async () => {
    const { connection } = await open();
    expect(await isHeldBy(process.pid, { ...connection, localPort: 1 })).toBeNull();
  });
});
