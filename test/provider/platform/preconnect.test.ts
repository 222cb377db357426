import assert from "node:assert/strict";
import { type Socket } from "node:net";
import { NotSentError, UnconfirmedError } from "../../../provider/platform/errors";
import { type PlatformClient } from "../../../provider/platformClient";
import { caFile, certificate } from "../../faults/certificates";
import { type Exchange, type ServerOptions } from "../../faults/rawServer";
import { until } from "../../support/results";
import { type Proxy } from "../../faults/proxy";
import * as realSockets from "./realSockets";
import { plain, secure, seen } from "./realSockets";

const maxConcurrency = 2;
/** Connections that may be ready or on their way in addition to those of the requests under way. */
const mostAhead = 3 * maxConcurrency;

describe("platform: connections opened ahead of resets, over real sockets", () => {
  const sockets = realSockets.withRealSockets();

  /** Starts a server that holds its responses to resets until it is told to send them. */
  async function startServer({ onConnection, ...options }: Partial<ServerOptions> = {}) {
    const accepted: Socket[] = [];
    const server = await sockets.startServer({
      ...options,
      onConnection(socket) {
        accepted.push(socket);
        onConnection?.(socket);
      },
    });
    const held: Exchange[] = [];
    let holds = true;
    server.behave("POST", "reset-password", (exchange) => {
      if (holds) held.push(exchange);
      else exchange.answer(200);
    });
    const release = (): void => {
      holds = false;
      held.splice(0).forEach(({ answer }) => answer(200));
    };
    /** Waits until all that may be open are: those under way, and those ahead. Returns those ahead. */
    const allOpen = async (): Promise<Socket[]> => {
      await until(() => held.length === maxConcurrency && server.open === maxConcurrency + mostAhead);
      return accepted.filter((socket) => socket.bytesRead === 0);
    };
    return { server, accepted, held, release, allOpen };
  }

  const clientOf: typeof realSockets.clientOf = (url, settings, beforeReset) =>
    realSockets.clientOf(url, { maxConcurrency: `${maxConcurrency}`, ...settings }, beforeReset);
  const resetAll = (client: PlatformClient, count: number) =>
    Promise.all(Array.from({ length: count }, (_, nth) => client.databases.resetPassword(`db-${nth}`)));

  it("are as many as resets wait, and at most three times as many as requests may be under way", async () => {
    for (const [count, ahead] of [
      [maxConcurrency, 0],
      [maxConcurrency + 3, 3],
      [50, mostAhead],
    ] as const) {
      const { server, held, release } = await startServer();
      const resets = resetAll(clientOf(plain(server)), count);
      await until(() => held.length === maxConcurrency && server.connections >= maxConcurrency + ahead);
      await seen();
      assert.equal(server.connections, maxConcurrency + ahead);
      assert.equal(server.requests.length, maxConcurrency);
      release();
      await resets;
      assert.equal(server.requests.length, count);
    }
  });

  it("serve one reset each, and none is left open at the end", async () => {
    let mostOpen = 0;
    const onConnection = (): unknown => (mostOpen = Math.max(mostOpen, server.open));
    const { server } = await startServer({ tls: certificate("good"), onConnection });
    const used = new Set<Socket>();
    server.behave("POST", "reset-password", ({ socket, answer }) => {
      used.add(socket);
      answer(200, { connection: "keep-alive" });
    });
    await resetAll(clientOf(secure(server), { caFile }), 100);
    assert.equal(used.size, 100);
    assert.ok(mostOpen > maxConcurrency && mostOpen <= 4 * maxConcurrency, `${mostOpen}`);
    await until(() => server.open === 0);
  });

  it("are opened for resets alone", async () => {
    const { server, release } = await startServer();
    release();
    const client = clientOf(plain(server));
    const keys = Array.from({ length: 20 }, (_, nth) => `orders-${nth}`);
    await Promise.all(keys.map((key) => client.flowControl.get(key)));
    assert.equal(server.connections, maxConcurrency);
  });

  it("that close are replaced by others, and nothing was sent on them", async () => {
    const { server, allOpen, release } = await startServer();
    const resets = resetAll(clientOf(plain(server)), 20);
    const unused = await allOpen();
    for (const socket of unused) socket.destroy();
    await until(() => server.open === maxConcurrency);
    release();
    await resets;
    assert.deepEqual({ unused: unused.length, requests: server.requests.length }, { unused: mostAhead, requests: 20 });
  });

  it("on which the server has spoken are not used", async () => {
    const { server, allOpen, release } = await startServer();
    const resets = resetAll(clientOf(plain(server)), 20);
    const unused = await allOpen();
    for (const socket of unused) socket.write("HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n");
    await seen();
    release();
    await resets;
    assert.equal(server.requests.length, 20);
    for (const socket of unused) assert.equal(socket.bytesRead, 0);
  });

  it("are closed unused within a second, and fewer are opened after that", async () => {
    const lifetimes: number[] = [];
    const { server, held, release } = await startServer({
      onConnection: (socket) => {
        const began = performance.now();
        socket.once("close", () => socket.bytesRead === 0 && lifetimes.push(performance.now() - began));
      },
    });
    const resets = resetAll(clientOf(plain(server)), 20);
    await until(() => lifetimes.length === mostAhead);
    assert.ok(Math.min(...lifetimes) > 300, lifetimes.join());
    assert.equal(server.open, maxConcurrency);
    held.shift()?.answer(200);
    await until(() => server.requests.length === maxConcurrency + 1);
    // One for the reset that found none ready, and one ahead of the next.
    const opened = maxConcurrency + mostAhead + 2;
    await until(() => server.connections >= opened);
    await seen();
    assert.equal(server.connections, opened);
    release();
    await resets;
  });

  it("that are refused fail no reset, and fewer are opened after that", async () => {
    const limit = maxConcurrency + 1;
    const { server, held, release } = await startServer({
      tls: certificate("good"),
      onConnection: (socket) => void (server.open > limit && socket.destroy()),
    });
    const resets = resetAll(clientOf(secure(server), { caFile }), 20);
    await until(() => held.length === maxConcurrency && server.connections === maxConcurrency + mostAhead);
    await until(() => server.open === limit);
    release();
    await resets;
    assert.equal(server.requests.length, 20);
    assert.ok(server.connections < 20 + 2 * mostAhead, `${server.connections}`);
  });

  it("that wait at the server until another is closed make no reset fail", async () => {
    let allowed = 0;
    let last = Promise.resolve();
    const { server, release } = await startServer();
    release();
    const isFree = (): boolean => server.connections === allowed && server.open < maxConcurrency;
    const proxy = await sockets.startProxy({
      beforeOpening: () =>
        (last = last.then(async () => {
          await until(isFree);
          allowed++;
        })),
    });
    const client = clientOf(plain(server), { proxy: plain(proxy) });
    await resetAll(client, 30);
    assert.equal(server.requests.length, 30);
  });

  it("that never become ready keep no reset waiting, and are given up at the end", async () => {
    const firstOnes = maxConcurrency + mostAhead;
    const proxy: Proxy = await sockets.startProxy({
      beforeOpening: () => {
        const nth = proxy.heads.length;
        return nth > maxConcurrency && nth <= firstOnes ? new Promise(() => undefined) : Promise.resolve();
      },
    });
    const { server, held, release } = await startServer();
    const resets = resetAll(clientOf(plain(server), { proxy: plain(proxy) }), 20);
    await until(() => held.length === maxConcurrency && proxy.heads.length === firstOnes);
    release();
    await resets;
    assert.equal(proxy.waiting, mostAhead, "none of them has failed so far");
    await until(() => proxy.open === 0);
  });

  it("do not change the error of the reset", async () => {
    const { server } = await startServer({ accept: (socket) => void socket.once("data", () => socket.destroy()) });
    const client = clientOf(secure(server));
    const ids = Array.from({ length: 9 }, (_, nth) => `db-${nth}`);
    const results = await Promise.allSettled(ids.map((id) => client.databases.resetPassword(id)));
    for (const result of results) {
      assert.ok(result.status === "rejected" && result.reason instanceof NotSentError, JSON.stringify(result));
      assert.match(result.reason.message, /the connection failed \(ECONNRESET\), after 3 attempts/);
    }
  });

  it("that close while the engine is asked make no reset fail", async () => {
    const { server, accepted, allOpen, release } = await startServer();
    let asked = 0;
    const resets = resetAll(
      clientOf(plain(server), {}, async () => {
        if (++asked !== maxConcurrency + 1) return;
        // The oldest ready connection is the one that this reset has.
        accepted[maxConcurrency]?.resetAndDestroy();
        await seen();
      }),
      20,
    );
    await allOpen();
    release();
    await resets;
    assert.deepEqual({ requests: server.requests.length, asked }, { requests: 20, asked: 21 });
  });

  it("that close as the request is written leave it unknown whether the reset was applied", async () => {
    const { server, accepted, allOpen, release } = await startServer();
    let asked = 0;
    const client = clientOf(plain(server), {}, async () => {
      // The client writes before it can see this: it does not return to its event loop in between.
      if (++asked === maxConcurrency + 1) accepted[maxConcurrency]?.resetAndDestroy();
    });
    const ids = Array.from({ length: 20 }, (_, nth) => `db-${nth}`);
    const settled = Promise.allSettled(ids.map((id) => client.databases.resetPassword(id)));
    await allOpen();
    release();
    const failed = (await settled).flatMap((result) =>
      result.status === "rejected" ? [result.reason as unknown] : [],
    );
    const [error] = failed;
    assert.ok(failed.length === 1 && error instanceof UnconfirmedError, String(error));
    assert.equal(server.requests.length, 19);
  });
});
