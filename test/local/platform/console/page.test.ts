import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { type Platform, startPlatform } from "../../../../local/platform/index";
import { openChromium, withChromium } from "../../../support/chromium";
import { basic, bearer, resetPassword, send } from "../client";
import { Destination } from "../queue/destination";

const screenshots = resolve(__dirname, "../../../../reports/console");

withChromium("local platform: the console in Chromium", function () {
  let browser: Browser;
  let platform: Platform;
  /** It receives messages and never responds. */
  let destination: Destination;
  /** The errors of pages, and the hosts that they have sent requests to. */
  let complaints: string[];
  let hosts: Set<string>;

  before(async () => {
    mkdirSync(screenshots, { recursive: true });
    browser = await openChromium();
    destination = await new Destination(() => {}).start();
  });
  after(async () => {
    await browser?.close();
    await destination?.close();
  });
  beforeEach(async () => {
    platform = await startPlatform({ databases: ["cache", "sessions"], flowControlKeys: [] });
    [complaints, hosts] = [[], new Set()];
  });
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
    await platform.close();
  });

  async function open(url = platform.consoleUrl, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => {
      const { protocol, host } = new URL(request.url());
      if (protocol !== "data:") hosts.add(host);
    });
    await page.goto(url);
    return page;
  }

  async function publish(count: number, key = "orders", limits = "parallelism=5, rate=100, period=1d"): Promise<void> {
    const headers = { "Upstash-Flow-Control-Key": key, "Upstash-Flow-Control-Value": limits };
    for (let index = 0; index < count; index++) {
      const path = `/v2/publish/${destination.url}/${index}`;
      assert.equal((await send(platform, "POST", path, bearer(platform), { headers })).status, 201);
    }
  }

  const row = (page: Page, name: string) =>
    page.getByRole("row").filter({ has: page.getByRole("rowheader", { name }) });
  const shows = (page: Page, name: string, ...texts: string[]) =>
    texts.reduce((found, text) => found.filter({ hasText: text }), row(page, name)).waitFor();
  const hasCell = (page: Page, key: string, name: string) =>
    row(page, key).getByRole("cell", { name, exact: true }).waitFor();
  const status = (page: Page, text: string) => page.getByRole("status").filter({ hasText: text }).waitFor();
  const click = (page: Page, name: string) => page.getByRole("button", { name }).click();

  it("shows a reset made over HTTP, without an error or a request to another machine", async () => {
    const page = await open();
    await shows(page, "cache", "never");
    assert.equal((await resetPassword(platform, "cache")).status, 200);
    await row(page, "cache").filter({ hasNotText: "never" }).waitFor();
    const [resets, , generation] = await row(page, "cache").getByRole("cell").allInnerTexts();
    assert.deepEqual({ resets, generation }, { resets: "1", generation: "2" });
    await page.getByRole("cell", { name: "/v2/keyvalue/reset-password/cache" }).waitFor();
    assert.equal(new URL(page.url()).hash, "");
    assert.deepEqual(complaints, []);
    assert.deepEqual([...hosts], [new URL(platform.url).host]);
    assert.equal(platform.requests.length, 1);
  });

  it("moves the gauges of a key when messages are published, and dispatches the next ones when it is reset", async () => {
    const page = await open();
    await publish(12);
    await shows(page, "orders", "5 of 5", "5 of 100", "in 1 d");
    const running = row(page, "orders").getByRole("meter", { name: "Running of orders" });
    for (const name of ["aria-valuenow", "aria-valuemax"]) assert.equal(await running.getAttribute(name), "5");
    const { width: full } = (await running.boundingBox()) ?? { width: 0 };
    const rate = row(page, "orders").getByRole("meter", { name: "Rate of orders" }).locator("div");
    const { width = 0 } = (await rate.boundingBox()) ?? {};
    assert.equal(Math.round((100 * width) / full), 5);
    await hasCell(page, "orders", "7");
    const history = { name: /^orders, last 5 minutes: 7 waiting, at most 7; 5 run/ };
    await row(page, "orders").getByRole("img", history).waitFor();
    const before = destination.deliveries.length;

    await click(page, "Reset flow control of orders");
    await destination.arrived(before + 5);
    await status(page, "Flow control of orders was reset.");
    await hasCell(page, "orders", "2");
    assert.deepEqual(complaints, []);
  });

  it("pauses and resumes the messages of a key", async () => {
    const page = await open();
    await publish(1, "orders", "parallelism=9");
    await click(page, "Pause delivery of orders");
    await shows(page, "orders", "paused");
    const before = destination.deliveries.length;
    await publish(3, "orders", "parallelism=9");
    await hasCell(page, "orders", "3");
    assert.equal(destination.deliveries.length, before);
    await click(page, "Resume delivery of orders");
    await destination.arrived(before + 3);
    await row(page, "orders").filter({ hasNotText: "paused" }).waitFor();
  });

  it("resets a password only after a confirmation", async () => {
    const page = await open();
    await click(page, "Reset password of cache");
    const dialog = page.getByRole("dialog", { name: "Reset the password of cache?" });
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "hidden" });
    assert.equal(platform.resetCount, 0);
    await click(page, "Reset password of cache");
    await dialog.getByRole("button", { name: "Reset password" }).click();
    await status(page, "The password of cache was reset.");
    const [cache, sessions] = [platform.database("cache").resets, platform.database("sessions").resets];
    assert.deepEqual({ cache, sessions }, { cache: 1, sessions: 0 });
  });

  it("works with the keyboard alone, shows the focus, and keeps it while the numbers change", async () => {
    await publish(12);
    const page = await open();
    await shows(page, "orders", "5 of 5");
    const focused = () => page.evaluate<string | null>("document.activeElement.getAttribute('aria-label')");
    const tabTo = async (label: string) => {
      for (let presses = 0; (await focused()) !== label; presses++) {
        assert.ok(presses < 20, `${label} is not reached by Tab`);
        await page.keyboard.press("Tab");
      }
    };
    await tabTo("Reset flow control of orders");
    assert.equal(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "solid");
    await page.keyboard.press("Enter");
    await hasCell(page, "orders", "2");
    assert.equal(await focused(), "Reset flow control of orders");

    await tabTo("Reset password of cache");
    await page.keyboard.press("Space");
    await page.keyboard.press("Escape");
    assert.equal(await focused(), "Reset password of cache");
    await page.keyboard.press("Space");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await status(page, "The password of cache was reset.");
    assert.equal(platform.resetCount, 1);
  });

  it("follows the color scheme of the system, and is readable in both", async () => {
    await publish(12);
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await open(platform.consoleUrl, { colorScheme });
      await shows(page, "orders", "5 of 5");
      await page.screenshot({ path: join(screenshots, `${colorScheme}.png`), fullPage: true });
      const luminanceOf = async (selector: string, property: string) => {
        const style = `getComputedStyle(document.querySelector("${selector}")).${property}`;
        return luminance((await page.evaluate<string>(style)).match(/\d+/g)?.slice(0, 3).map(Number));
      };
      const background = await luminanceOf("body", "backgroundColor");
      assert.equal(background > 0.5, colorScheme === "light");
      for (const selector of ["body", "thead th", "#keys-summary"]) {
        const text = await luminanceOf(selector, "color");
        // WCAG 2, level AA.
        const contrast = (Math.max(text, background) + 0.05) / (Math.min(text, background) + 0.05);
        assert.ok(contrast >= 4.5, `${selector}: ${contrast}`);
      }
    }
  });

  it("signs in by hand, reports a failure, and keeps the credentials only in the tab", async () => {
    const page = await open(platform.url);
    const fill = async (password: string) => {
      await page.getByLabel("User name").fill(platform.username);
      await page.getByLabel("Password", { exact: true }).fill(password);
      await page.getByLabel("Queue token").fill(platform.queueToken);
      await page.keyboard.press("Enter");
    };
    await fill("guessed");
    await status(page, "These are not the credentials");
    await fill(platform.password);
    await shows(page, "cache", "never");
    await page.reload();
    await shows(page, "cache", "never");
    assert.equal(await page.evaluate("localStorage.length"), 0);
    assert.equal(await page.evaluate("document.cookie"), "");
    await click(page, "Sign out");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    assert.equal(await page.evaluate("sessionStorage.length"), 0);
    assert.equal(await row(page, "cache").count(), 0);
  });

  it("finds a key among 10,000", async () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `key-${index}`);
    await platform.close();
    platform = await startPlatform({ flowControlKeys: names.map((flowControlKey) => ({ flowControlKey })) });
    const page = await open();
    await page.getByText("10000 keys, the 50 busiest shown: search for others").waitFor();
    assert.equal(await page.locator("#keys tr").count(), 50);
    await page.getByLabel("Search").fill("KEY-9999");
    await page.getByText("1 of 10000 keys found").waitFor();
    await row(page, "key-9999").waitFor();
    assert.deepEqual(complaints, []);
  });

  it("reports that the platform does not respond, and continues when it does", async () => {
    const page = await open();
    await shows(page, "cache", "never");
    const { username, password, queueToken } = platform;
    await platform.close();
    await status(page, "The platform does not respond.");
    const port = Number(new URL(platform.url).port);
    platform = await startPlatform({ port, username, password, queueToken, databases: ["cache"] });
    await status(page, "The platform responds again.");
    assert.equal((await send(platform, "GET", "/local/console", basic(platform))).status, 200);
  });
});

function luminance(color: readonly number[] = []): number {
  const [red = 0, green = 0, blue = 0] = color.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
