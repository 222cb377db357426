import { type Socket } from "node:net";

/** Bytes. A Redis replies to `AUTH` and `PING` with one short line. */
const longestReply = 64 * 1024;

/** There is no reply that can be read. The message may be shown. */
export class NoReplyError extends Error {}

/** The reply to a command is not what a Redis sends. */
export function notRedis(command: string): NoReplyError {
  return new NoReplyError(`the reply to ${command} is not that of a Redis`);
}

/**
 * Sends a command to a Redis and reads its reply, which must be one line: a status (`+`) or an error (`-`).
 *
 * @param timeoutMs milliseconds until it is given up
 * @returns the line, without its line break
 * @throws NoReplyError for any other reply: nothing more is read
 */
export function ask(socket: Socket, [name = "", ...args]: readonly string[], timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let reply = Buffer.alloc(0);
    const end = (result: string | NoReplyError): void => {
      clearTimeout(timer);
      socket.pause().off("data", read).off("close", closed);
      if (typeof result === "string") resolve(result);
      else reject(result);
    };
    const read = (bytes: Buffer): void => {
      reply = Buffer.concat([reply, bytes]);
      if (!/[+-]/.test(String.fromCharCode(reply[0] ?? 0))) return end(notRedis(name));
      if (reply.length > longestReply) return end(new NoReplyError(`the reply to ${name} is longer than 64 KiB`));
      const lineEnd = reply.indexOf("\r\n");
      if (lineEnd === -1) return;
      end(lineEnd + 2 === reply.length ? reply.toString("utf8", 0, lineEnd) : notRedis(name));
    };
    const closed = (): void => end(new NoReplyError("the server closed the connection"));
    const timer = setTimeout(() => end(new NoReplyError("the server did not respond in time")), timeoutMs);
    if (socket.destroyed) return closed();
    socket.on("data", read).on("close", closed).resume();
    socket.write(encoded([name, ...args]));
  });
}

function encoded(command: readonly string[]): string {
  const parts = command.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`);
  return `*${command.length}\r\n${parts.join("")}`;
}
