import assert from "node:assert/strict";
import {
  connectToRedis,
  ErrorReply,
  StatusReply,
  NoReplyError,
  type Reply,
} from "../../../provider/clients/redisConnection";
import { Connections } from "../../../provider/platform/connections";
import { withRealSockets } from "../platform/realSockets";

describe("clients: the connection to a Redis", () => {
  const { startServer } = withRealSockets();

  /** The replies to `PING` and, if the server has sent more than one, to those that follow; and all it was sent. */
  async function replies(
    sent: readonly string[],
    { pieces = false, count = 1, timeoutMs = 30_000 } = {},
  ): Promise<{ received: Reply[]; commands: string }> {
    const bytes = Buffer.from(sent.join("\r\n") + "\r\n");
    let commands = "";
    const server = await startServer({
      accept: (socket) =>
        socket.on("data", (command: Buffer) => {
          commands += command.toString();
          if (!pieces) return void socket.write(bytes);
          let at = 0;
          const next = (): unknown =>
            at < bytes.length && socket.write(bytes.subarray(at, ++at), () => setImmediate(next));
          next();
        }),
    });
    const endpoint = { host: "127.0.0.1", port: server.port, tls: false };
    const connection = await connectToRedis(new Connections(), endpoint, timeoutMs);
    try {
      const received: Reply[] = [];
      while (received.length < count) received.push(await connection.send("PING"));
      return { received, commands };
    } finally {
      connection.close();
    }
  }

  const readable: readonly (readonly [sent: readonly string[], Reply])[] = [
    [["+OK"], new StatusReply("OK")],
    [["+"], new StatusReply("")],
    [["*1", "+OK"], ["OK"]],
    [["-ERR no"], new ErrorReply("ERR no")],
    [[":12"], 12],
    [[":-1"], -1],
    [["$-1"], undefined],
    [["*-1"], undefined],
    [["$0", ""], ""],
    [["$6", "é\r\n+A"], "é\r\n+A"],
    [["*0"], []],
    [
      ["*4", "$1", "a", "*2", ":1", "*0", "$-1", "-ERR no"],
      ["a", [1, []], undefined, new ErrorReply("ERR no")],
    ],
  ];
  for (const [sent, expected] of readable) {
    it(`reads ${JSON.stringify(sent)}, whole and byte by byte`, async () => {
      for (const pieces of [false, true]) assert.deepEqual((await replies(sent, { pieces })).received, [expected]);
    });
  }

  it("reads the reply to each command, and sends nothing else", async () => {
    const { received, commands } = await replies(["$2", "ab"], { count: 3 });
    assert.deepEqual(received, ["ab", "ab", "ab"]);
    assert.equal(commands, "*1\r\n$4\r\nPING\r\n".repeat(3));
  });

  async function assertUnreadable(replied: Promise<unknown>, says: RegExp): Promise<void> {
    await assert.rejects(replied, (error) => error instanceof NoReplyError && says.test(error.message));
  }

  const noRedis = /^the reply to PING is not that of a Redis$/;
  const others = [
    "%1",
    "~1",
    ">2",
    "_",
    "#t",
    ",1.5",
    "(1",
    "!5",
    "=7",
    "|1",
    "HTTP/1.1 400 Bad Request",
    "\u0015\u0003",
  ];
  const wrongs = [[":"], [":1.5"], ["$x"], ["*1e3"], ["$2", "abc"], ["$1048577"], ["*1048577"], ["*1", "%1"]];
  for (const sent of [...others.map((line) => [line]), ...wrongs]) {
    it(`takes ${JSON.stringify(sent)} for no reply`, () => assertUnreadable(replies(sent), noRedis));
  }

  it("takes more than the reply for no reply to the next command", () =>
    assertUnreadable(replies(["+OK", "+OK"], { count: 2 }), noRedis));

  for (const sent of [
    ["$9", "ab"],
    ["*2", ":1"],
  ]) {
    it(`waits for the end of ${JSON.stringify(sent)} until its time is over`, () =>
      assertUnreadable(replies(sent, { timeoutMs: 200 }), /^the server did not respond in time$/));
  }

  it("reads no endless reply", async () => {
    const mebibyte = "o".repeat(1024 * 1024);
    for (const sent of [`+${mebibyte}`, `$${2 ** 40}\r\n${mebibyte}`, `*9999999\r\n${":1\r\n".repeat(2 ** 18)}`]) {
      await assertUnreadable(replies([sent]), noRedis);
    }
  });
});
