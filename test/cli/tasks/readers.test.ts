/** What a reader that is slow or gone has not read. `readers.soak.test.ts` has runners whose readers stop. */
import { createServer, type Server, Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { createOutlet } from "../../../src/cli/live/outlet.ts";
import { until } from "../../support/until.ts";

describe("what is unread", () => {
  test("F1 is bounded: lines are left out, whole, and their number is told once the reader is back", async () => {
    const { writer, reader } = await connection();
    const limit = 100_000;
    const outlet = createOutlet(writer, (lines) => outlet.write(`left out ${lines}\n`), limit);
    const line = (n: number) => `${n} ${"x".repeat(1_000)}\n`;
    let written = 0;
    while (outlet.write(line(written))) written++;
    let leftOut = 1;
    for (; leftOut < 5_000; leftOut++) expect(outlet.write(line(written + leftOut))).toBe(false);
    expect(outlet.isBehind).toBe(true);
    expect(writer.writableLength).toBeLessThan(limit + 2_000);
    let got = "";
    reader.setEncoding("utf8").on("data", (text: string) => {
      got += text;
    });
    reader.resume();
    await until(() => got.endsWith(`left out ${leftOut}\n`), "it is told");
    expect(outlet.isBehind).toBe(false);
    expect(outlet.write("after\n")).toBe(true);
    await until(() => got.endsWith("after\n"), "it goes on");
    const numbers = got.split("\n").map((text) => text.split(" ")[0]);
    expect(numbers).toEqual([...Array.from({ length: written }, (_, n) => String(n)), "left", "after", ""]);
  });

  test("F1 a reader that is gone is no failure", async () => {
    const { writer, reader } = await connection();
    writer.on("error", () => {});
    const outlet = createOutlet(writer, () => {});
    reader.destroy();
    await until(() => {
      outlet.write("x\n");
      return writer.destroyed;
    }, "the writer has noticed");
    expect(() => outlet.write("y\n")).not.toThrow();
  });
});

/** Both ends of a connection, the second of which reads nothing yet. */
async function connection(): Promise<{ writer: NodeJS.WriteStream; reader: Socket }> {
  const server: Server = createServer({ pauseOnConnect: true });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
  const writer = new Socket().connect(port, "127.0.0.1");
  const reader = await accepted;
  await until(() => !writer.connecting, "they are connected");
  onTestFinished(() => {
    writer.destroy();
    reader.destroy();
    server.close();
  });
  return { writer: writer as unknown as NodeJS.WriteStream, reader };
}
