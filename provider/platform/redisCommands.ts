import { type Socket } from "node:net";

/** Characters. A Redis replies to `AUTH` with one short line. */
const longestReply = 64 * 1024;

/** There is no reply that can be read. The message may be shown. */
export class NoReplyError extends Error {}

/**
 * Sends a command to a Redis and reads its reply, which must be one line: a status (`+`) or an error (`-`). The
 * connection is of no use after it.
 *
 * @param timeoutMs milliseconds until it is given up
 * @returns the line, without its line break
 * @throws NoReplyError for any other reply: nothing more is read
 */
export async function ask(socket: Socket, command: readonly string[], timeoutMs: number): Promise<string> {
  const late = new NoReplyError("the server did not respond in time");
  const timer = setTimeout(() => socket.destroy(late), timeoutMs);
  try {
    socket.setEncoding("utf8").write(encoded(command));
    let reply = "";
    for await (const text of socket) {
      reply += text as string;
      if (!/^[+-]/.test(reply) || reply.length > longestReply) {
        throw new NoReplyError(`the reply to ${command[0]} is not that of a Redis`);
      }
      const [line = "", ...rest] = reply.split("\r\n");
      if (rest.length > 0) return line;
    }
    throw new NoReplyError("the server closed the connection");
  } finally {
    clearTimeout(timer);
  }
}

function encoded(command: readonly string[]): string {
  const parts = command.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`);
  return `*${command.length}\r\n${parts.join("")}`;
}
