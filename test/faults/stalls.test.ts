import { describeFaults, type Fault } from "./describeFaults";
import { stalled } from "./expected";

const faults: readonly Fault[] = [
  { row: 10, fault: "silent", platform: () => undefined, ...stalled },
  {
    row: 11,
    fault: "headers, then a stall",
    platform: ({ socket, body }) => void socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`),
    ...stalled,
  },
  {
    row: 11,
    fault: "half of the headers, then a stall",
    platform: ({ socket }) => void socket.write("HTTP/1.1 200 OK\r\ncontent-le"),
    ...stalled,
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
    ...stalled,
  },
];

describeFaults("faults: stalls", { deadlineSeconds: 2 }, faults);
