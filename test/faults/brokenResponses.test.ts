import { gzipSync } from "node:zlib";
import { type Behaviour, resetting, responding, sending } from "../support/httpServer";
import { describeFaults } from "./describeFaults";
import { lost, succeeds, unconfirmed, unusable } from "./expected";

const headWith = (header: string): string => `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${header}\r\n\r\n`;
const half = (text: string): string => text.slice(0, text.length / 2);
const tooShort = (body: string): string => headWith(`content-length: ${body.length}`) + half(body);
const withoutEnd = (body: string): string =>
  `${headWith("transfer-encoding: chunked")}${body.length.toString(16)}\r\n${half(body)}`;

const upgrading: Behaviour = ({ socket }) =>
  void socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");

/** The interface documents no body for the response to a counter reset: any complete 2xx is a success. */
const anyBody = { counters: succeeds() };
const notJson = { ...unusable(/200/, /not JSON/), ...anyBody };
const not200 = (status: number) => ({ ...unusable(new RegExp(`${status}`), /not have status 200/), ...anyBody });

describeFaults("faults: broken responses", {}, [
  { row: 9, fault: "reset after the request was read", platform: resetting, ...lost(/ECONNRESET/) },
  { row: 10, fault: "closed with no response", platform: sending(() => ""), ...lost(/ECONNRESET/) },
  { row: 10, fault: "101 (Upgrade), kept open", platform: upgrading, ...lost(/ECONNRESET/) },
  {
    row: 10,
    fault: "103 (Early Hints), closed",
    platform: sending(() => "HTTP/1.1 103 Early Hints\r\n\r\n"),
    ...lost(),
  },
  { row: 13, fault: "body shorter than Content-Length, closed", platform: sending(tooShort), ...lost(/incomplete/) },
  {
    row: 13,
    fault: "body shorter than Content-Length, reset",
    platform: ({ socket, body }) => {
      socket.write(tooShort(body), () => setTimeout(() => socket.resetAndDestroy(), 50));
    },
    ...lost(/incomplete/),
  },
  { row: 13, fault: "chunked body without its end", platform: sending(withoutEnd), ...lost(/incomplete/) },
  {
    row: 14,
    fault: "JSON cut off, right length",
    platform: ({ answer, body }) => answer(200, {}, half(body)),
    ...unusable(/not the record of a database/, /not JSON/),
    ...anyBody,
  },
  { row: 15, fault: "200 empty", platform: responding(200, ""), ...notJson },
  { row: 15, fault: "200 with HTML", platform: responding(200, "<html>", { "content-type": "text/html" }), ...notJson },
  { row: 15, fault: "201 with a record", platform: responding(201), reset: succeeds() },
  { row: 15, fault: "201 with nothing", platform: responding(201, ""), reset: unconfirmed(/201/) },
  { row: 15, fault: "206 with a record", platform: responding(206), reset: unconfirmed(/206/) },
  { row: 15, fault: "202 with a record", platform: responding(202), ...not200(202) },
  { row: 15, fault: "204", platform: responding(204, ""), ...not200(204) },
  { row: 16, fault: "not HTTP", platform: sending(() => "220 mail ready\r\n"), ...unusable(/malformed/) },
  {
    row: 16,
    fault: "100 kB of headers",
    platform: sending((body) => headWith(`x: ${"y".repeat(100_000)}`) + body),
    ...unusable(/HPE_HEADER_OVERFLOW/),
  },
  {
    row: 18,
    fault: "broken gzip",
    platform: responding(200, "not gzip", { "content-encoding": "gzip" }),
    ...unusable(/malformed/),
  },
  {
    row: 18,
    fault: "gzip that ends early",
    // Node decompresses what arrived, in the way axios uses it: the JSON is cut off.
    platform: ({ answer, body }) => answer(200, { "content-encoding": "gzip" }, gzipSync(body).subarray(0, -20)),
    ...unusable(/not the record of a database/, /not JSON/),
    ...anyBody,
  },
]);
