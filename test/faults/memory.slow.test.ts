import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { adapters } from "../support/host";
import { describeFaults } from "./describeFaults";
import { everywhere, fails, unusable } from "./expected";
import { type Behaviour, responding } from "../support/httpServer";

const mebibyte = 1024 * 1024;
/** Two gigabytes of spaces: a gzip file may hold many members, one after the other. */
const gzipBomb = Buffer.concat(Array<Buffer>(128).fill(gzipSync(Buffer.alloc(16 * mebibyte, " "))));
/** 16 kB that are 16 MB of JSON. */
const nested = gzipSync("[".repeat(8 * mebibyte) + "]".repeat(8 * mebibyte));
const brotliBomb = brotliCompressSync(Buffer.alloc(256 * mebibyte, " "));

/** Bytes that each endless body took. */
const sent: number[] = [];
const endless =
  (status: number): Behaviour =>
  ({ socket }) => {
    socket.write(`HTTP/1.1 ${status} Any\r\ncontent-type: application/json\r\n\r\n[`);
    const chunk = Buffer.alloc(mebibyte, "1,");
    const pour = (): void => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on("drain", pour).once("close", () => sent.push(socket.bytesWritten));
    pour();
  };

const [gzip, br] = ["gzip", "br"].map((encoding) => ({ "content-encoding": encoding }));
const tooLarge = unusable(/too large/);
describeFaults(
  "faults: too much",
  {},
  [
    { row: 17, fault: "endless body", platform: endless(200), ...tooLarge },
    {
      row: 17,
      fault: "endless body of a 400",
      platform: endless(400),
      ...everywhere(fails(1, /responded with 400 \(/)),
    },
    { row: 18, fault: "nested JSON (16 kB of gzip)", platform: responding(200, nested, gzip), ...tooLarge },
    { row: 18, fault: "gzip bomb (2 GB)", platform: responding(200, gzipBomb, gzip), ...tooLarge },
    { row: 18, fault: "br bomb (256 MB)", platform: responding(200, brotliBomb, br), ...tooLarge },
  ],
  [
    {
      title: [17, "endless body", "connection", "is cut"],
      test: () => {
        assert.equal(sent.length, 8 * adapters.length);
        for (const bytes of sent) assert.ok(bytes < 16 * mebibyte, `${bytes} bytes were taken`);
      },
    },
    {
      title: [18, "bombs", "memory", "bounded, all of them at once"],
      test: ({ host }) => {
        const file = `/proc/${host.pid}/status`;
        // Only Linux reports the peak memory of another process.
        if (!existsSync(file)) return;
        const kibibytes = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(file, "utf8"))?.[1]);
        assert.ok(kibibytes < 800 * 1024, `the host took ${kibibytes} kB`);
      },
    },
  ],
);
