import { gzipSync } from "node:zlib";
import { describeFaults, type Fault } from "./describeFaults";
import { lost, succeeds, unconfirmed, unusable } from "./expected";
import { type Behaviour } from "./rawServer";

const head = (more: string): string => `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${more}\r\n`;
const cut =
  (after: (body: string) => string): Behaviour =>
  ({ socket, body }) =>
    void socket.end(after(body));
const half = (text: string): string => text.slice(0, text.length / 2);
const compressed =
  (encoding: string, bytes: Buffer): Behaviour =>
  ({ answer }) =>
    answer(200, { "content-encoding": encoding }, bytes);

/** An answer to a counter reset has no documented body: any 2xx that arrives whole is a success. */
const anyBody = { counters: succeeds() };

const faults: readonly Fault[] = [
  {
    row: 9,
    fault: "reset after the request was read",
    platform: ({ socket }) => void socket.resetAndDestroy(),
    ...lost(/ECONNRESET/),
  },
  { row: 10, fault: "closed with no answer", platform: ({ socket }) => void socket.end(), ...lost(/ECONNRESET/) },
  {
    row: 13,
    fault: "body shorter than Content-Length, closed",
    platform: cut((body) => head(`content-length: ${body.length}\r\n`) + half(body)),
    ...lost(/cut off/),
  },
  {
    row: 13,
    fault: "body shorter than Content-Length, reset",
    platform: ({ socket, body }) => {
      socket.write(head(`content-length: ${body.length}\r\n`) + half(body), () =>
        setTimeout(() => socket.resetAndDestroy(), 50),
      );
    },
    ...lost(/cut off/),
  },
  {
    row: 13,
    fault: "chunked body without its end",
    platform: cut((body) => `${head("transfer-encoding: chunked\r\n")}${body.length.toString(16)}\r\n${half(body)}`),
    ...lost(/cut off/),
  },
  {
    row: 14,
    fault: "JSON cut off, right length",
    platform: ({ answer, body }) => answer(200, {}, half(body)),
    ...unusable(/not a database record/, /is not JSON/),
    ...anyBody,
  },
  {
    row: 15,
    fault: "200 empty",
    platform: ({ answer }) => answer(200, {}, ""),
    ...unusable(/answered 200/, /is not JSON/),
    ...anyBody,
  },
  {
    row: 15,
    fault: "200 with HTML",
    platform: ({ answer }) => answer(200, { "content-type": "text/html" }, "<html>Welcome</html>"),
    ...unusable(/answered 200/, /is not JSON/),
    ...anyBody,
  },
  { row: 15, fault: "201 with a record", platform: ({ answer }) => answer(201), reset: succeeds() },
  {
    row: 15,
    fault: "201 with nothing",
    platform: ({ answer }) => answer(201, {}, ""),
    reset: unconfirmed(/answered 201/),
  },
  { row: 15, fault: "206 with a record", platform: ({ answer }) => answer(206), reset: unconfirmed(/answered 206/) },
  {
    row: 15,
    fault: "202 with a record",
    platform: ({ answer }) => answer(202),
    ...unusable(/answered 202/, /not the 200/),
    ...anyBody,
  },
  {
    row: 15,
    fault: "204",
    platform: ({ answer }) => answer(204, {}, ""),
    ...unusable(/answered 204/, /not the 200/),
    ...anyBody,
  },
  {
    row: 16,
    fault: "not HTTP",
    platform: ({ socket }) => void socket.end("220 mail.example ESMTP ready\r\n"),
    ...unusable(/could not be read/),
  },
  {
    row: 16,
    fault: "100 kB of headers",
    platform: ({ socket, body }) => void socket.end(`${head(`x: ${"y".repeat(100_000)}\r\n`)}${body}`),
    ...unusable(/could not be read \(HPE_HEADER_OVERFLOW\)/, /HPE_HEADER_OVERFLOW/),
  },
  {
    row: 18,
    fault: "broken gzip",
    platform: compressed("gzip", Buffer.from("this is no gzip")),
    ...unusable(/could not be read/),
  },
  {
    row: 18,
    fault: "gzip that ends early",
    // Node's decompression gives what there is of it, as axios uses it: the JSON is cut off.
    platform: ({ answer, body }) => answer(200, { "content-encoding": "gzip" }, gzipSync(body).subarray(0, -20)),
    ...unusable(/not a database record/, /is not JSON/),
    ...anyBody,
  },
];

describeFaults("faults: broken answers", {}, faults);
