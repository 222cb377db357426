/** For a suite that retries over real sockets: no backoff, and each test closes what it opened. */
export function withRealSockets(): { close(): Promise<unknown> }[] {
  const { random } = Math;
  before(() => (Math.random = () => 0));
  after(() => (Math.random = random));
  const opened: { close(): Promise<unknown> }[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });
  return opened;
}
