import { silent } from "../support/httpServer";
import { describeFaults, type Fault } from "./describeFaults";
import { stalled } from "./expected";

const lengthOf = (body: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`;
const stalls: readonly Fault[] = [
  { row: 10, fault: "silent", platform: silent },
  { row: 11, fault: "headers, then a stall", platform: ({ socket, body }) => void socket.write(lengthOf(body)) },
  {
    row: 11,
    fault: "half of the headers, then a stall",
    platform: ({ socket }) => void socket.write("HTTP/1.1 200 OK\r\ncontent-le"),
  },
  {
    row: 12,
    fault: "one byte at a time",
    platform: ({ socket, body }) => {
      const bytes = [...lengthOf(body), ...body];
      const timer = setInterval(() => socket.write(bytes.shift() ?? ""), 1000);
      socket.once("close", () => clearInterval(timer));
    },
  },
];
describeFaults(
  "faults: stalls",
  // Long enough for a busy machine to connect and to send in time.
  { deadlineSeconds: 10 },
  stalls.map((fault) => ({ ...fault, ...stalled })),
);
