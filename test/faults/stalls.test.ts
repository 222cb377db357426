import { describeFaults, type Fault } from "./describeFaults";
import { A, B } from "./expected";

/** A stall lasts until the deadline, which leaves no time for another try. */
const faults: readonly Fault[] = [
  {
    row: 10,
    fault: "silent",
    platform: () => undefined,
    reset: A(/deadline/),
    read: B(1, /deadline/),
  },
  {
    row: 11,
    fault: "headers, then a stall",
    platform: ({ socket, body }) => void socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`),
    reset: A(/deadline/),
    read: B(1, /deadline/),
  },
  {
    row: 11,
    fault: "half of the headers, then a stall",
    platform: ({ socket }) => void socket.write("HTTP/1.1 200 OK\r\ncontent-le"),
    reset: A(/deadline/),
    read: B(1, /deadline/),
  },
  {
    row: 12,
    fault: "one byte at a time",
    platform: ({ socket, body }) => {
      const bytes = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
      let next = 0;
      const timer = setInterval(() => socket.write(bytes.charAt(next++)), 100);
      socket.once("close", () => clearInterval(timer));
    },
    reset: A(/deadline/),
    read: B(1, /deadline/),
  },
];

describeFaults("faults: stalls", { deadlineSeconds: 2 }, faults);
