import assert from "node:assert/strict";
import { type HttpVerificationInputs } from "../../provider/verification/httpVerification";
import { credentialVerification } from "../../provider/verification/credentialVerification";
import { asShown, FakeRun } from "../support/fakeRun";
import { assertFields } from "../support/results";
import { readPage } from "./page";

const { plan, apply } = asShown(credentialVerification);
const [first, second, unpermitted] = ["canary-key-Aa00-one", "canary-key-Bb11-two", "canary-key-Cc22-three"];

/** A row of the page: the request that proves a key, and what the vendor's statuses mean. */
interface Row {
  readonly name: string;
  readonly http: HttpVerificationInputs["http"];
  /** 401, if the reference does not say it. */
  readonly refused: number;
  readonly noPermission?: number | undefined;
}

const codesIn = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
const rows = readPage("docs/any-key.md")
  .text.split("\n")
  .filter((line) => /^\| \[/.test(line))
  .map((line): Row => {
    const [, name = "", request = "", given = "", statuses = ""] = line.split("|");
    assert.match(name, /^ \[[\w ]+\]\(https:\S+\) +$/);
    assert.match(statuses, /^ (not stated|\d{3}( \(\d{3}\))?) +$/);
    const headers = Object.fromEntries(codesIn(given).map((one) => one.split(": ", 2) as [string, string]));
    const { username, ...others } = headers;
    const [refused = 401, noPermission] = (statuses.match(/\d+/g) ?? []).map(Number);
    const url = (codesIn(request)[0] ?? assert.fail()).replace(/<\w+>/g, "mine");
    const http = { url, ...(username ? { username: "key-id", refusedStatuses: [refused] } : { headers: others }) };
    return { name: name.split(/[[\]]/)[1] ?? "", http, refused, noPermission };
  });

describe("The table of vendors of docs/any-key.md", () => {
  it("has up to 20 vendors, and both kinds of tokens of Cloudflare", () => {
    assert.ok(rows.length >= 15 && rows.length <= 21, String(rows.length));
    assert.equal(rows.filter(({ name }) => name.startsWith("Cloudflare")).length, 2);
  });

  for (const { name, http, refused, noPermission } of rows) {
    /** A vendor that behaves as its row says. */
    const start = (...valid: readonly string[]) =>
      new FakeRun().start({
        statusOf: async ({ baseUrl, path, query, headers = {}, authorization }) => {
          const search = new URLSearchParams(query).toString();
          assert.equal(`${baseUrl}${path}${search && `?${search}`}`, http.url);
          const all = Object.values({ ...headers, ...(authorization && { authorization }) });
          const sent = all.map((one) => one.replace(/^Basic (.*)/, (_, text: string) => atob(text))).join("\n");
          const isKnown = valid.some((key) => sent.split(/[ :=\n]/).includes(key));
          const status = sent.includes(unpermitted) ? (noPermission ?? 200) : 200;
          return { status: isKnown ? status : refused };
        },
      });
    const up = (credential: string, form = http) => ({ credential, http: form, withinSeconds: 0.1 });

    it(`proves the ${name}, and that a former one is refused`, async () => {
      const { outputs } = await apply(undefined, up(first), start(first));
      const run = start(first, second);
      plan(outputs, up(second), run);
      const turned = await apply(undefined, up(second), run);
      const open = await apply(turned.outputs, up(second), start(first, second));
      assertFields(open.outputs, { formerRefused: false, formersValid: 1 });
      assertFields((await apply(open.outputs, up(second), start(second))).outputs, { formerRefused: true });
      await assert.rejects(apply(undefined, up(first), start(second)), /The credential is not accepted/);
    });

    if (noPermission === undefined) continue;
    it(`proves the ${name} that lacks the permission of the request, if the program says so`, async () => {
      const run = start(unpermitted);
      await assert.rejects(apply(undefined, up(unpermitted), run), new RegExp(`responded with ${noPermission}`));
      const { outputs } = await apply(
        undefined,
        up(unpermitted, { ...http, acceptedStatuses: [200, noPermission] }),
        run,
      );
      assertFields(outputs, { verified: true });
    });
  }
});
