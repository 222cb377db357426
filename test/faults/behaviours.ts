import { type Behaviour } from "./rawServer";

type Headers = Readonly<Record<string, string>>;

/** Sends a complete response. @param body default: the ordinary one */
export const responding =
  (status: number, body?: string | Buffer, headers: Headers = {}): Behaviour =>
  ({ answer }) =>
    answer(status, headers, body);

/** Sends a body that is compressed, or claims to be. */
export const compressed = (encoding: string, body: Buffer): Behaviour =>
  responding(200, body, { "content-encoding": encoding });

/** Sends an error as JSON. */
export const failing = (status: number, error: unknown = "no", headers: Headers = {}): Behaviour =>
  responding(status, JSON.stringify({ error }), headers);

/** Sends bytes of its own making, then closes the connection. */
export const sending =
  (bytes: (body: string) => string): Behaviour =>
  ({ socket, body }) =>
    void socket.end(bytes(body));

/** Resets the connection when the request was read. */
export const resetting: Behaviour = ({ socket }) => void socket.resetAndDestroy();

/** Never responds. */
export const silent: Behaviour = () => undefined;

/** Responds as told to the first request, and well to those after it. */
export const once =
  (behaviour: Behaviour): Behaviour =>
  (exchange) =>
    exchange.nth === 1 ? behaviour(exchange) : exchange.answer(200);

/** Asks to wait a second, by a date. @param offsetMs how far the platform's clock is ahead */
export const limitedByDate =
  (offsetMs: number): Behaviour =>
  ({ answer }) => {
    const dateIn = (milliseconds: number) => new Date(Date.now() + offsetMs + milliseconds).toUTCString();
    answer(429, { date: dateIn(0), "retry-after": dateIn(1000) }, "{}");
  };
