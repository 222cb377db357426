import assert from "node:assert/strict";
import {
  CredentialVerification,
  type CredentialVerificationArgs,
  type HttpProbeArgs,
  PasswordRotation,
} from "pulumi-rekey";
import { leaksOf } from "../support/canaries";
import { type Behaviour, HttpServer, resetting } from "../support/httpServer";
import { assertFields } from "../support/results";
import { fails, succeeds } from "./engineStack";
import { closePlatforms, TestStack } from "./memory";

const keys = ["canary-key-Aa00-one", "canary-key-Bb11-two", "canary-key-Cc22-three"] as const;
const [first, second, third] = keys;
const canaries = Object.fromEntries(keys.map((key) => [key, key]));
const wrongOf = { [first]: "canary-kea-Bb22-aaa", [second]: "canary-kea-Aa22-aaa", [third]: "canary-key-Aa33-aaaaa" };

/** A vendor, whose keys are valid until they are deleted. */
class Vendor {
  readonly valid = new Set<string>();
  /** The keys that were sent, since this was asked last. */
  #seen = 0;
  /** What the next requests meet, each once, and then what all of them do. */
  script: Behaviour[] = [];

  private constructor(readonly server: HttpServer) {}

  static async start(): Promise<Vendor> {
    const behaviour: Behaviour = (exchange) => vendor.#serve(exchange);
    const vendor: Vendor = new Vendor(await HttpServer.start({ behaviour }));
    return vendor;
  }

  #serve(exchange: Parameters<Behaviour>[0]): unknown {
    const scripted = this.script.length > 1 ? this.script.shift() : this.script[0];
    if (scripted) return scripted(exchange);
    const { authorization = "", ...headers } = this.server.requests.at(-1)?.headers ?? {};
    const [, basic = ""] = /^Basic (.*)/.exec(authorization) ?? [];
    const sent = `${authorization} ${Buffer.from(basic, "base64").toString()} ${JSON.stringify(headers)} ${exchange.path}`;
    return exchange.answer([...this.valid].some((key) => sent.includes(key)) ? 200 : 401, {}, `{"error":"${sent}"}`);
  }

  /** What was sent since the last call: the keys, or the whole requests. */
  get sent(): string[] {
    const requests = this.server.requests.slice(this.#seen);
    this.#seen = this.server.requests.length;
    return requests.map(({ headers, path }) => (headers.authorization ?? path).replace("Bearer ", ""));
  }
}

describe("A CredentialVerification over HTTP", () => {
  let vendor: Vendor;
  let stack: TestStack;
  let args: CredentialVerificationArgs;
  const http = (more: Partial<HttpProbeArgs> = {}) => ({ url: `${vendor.server.url}/validate`, ...more });
  beforeEach(async () => {
    vendor = await Vendor.start();
    args = { credential: first, http: http(), withinSeconds: 20 };
    stack = await TestStack.start(() => void new CredentialVerification("proof", args));
    vendor.valid.add(first);
  });
  afterEach(async () => {
    await closePlatforms();
    await vendor.server.close();
  });
  const saved = () => stack.saved("proof") ?? assert.fail();

  it("proves a key, then that the former one is refused, and sends nothing else", async () => {
    const others = async () => {
      for (const run of [stack.preview, stack.refresh, stack.up]) await succeeds(run());
    };
    await succeeds(stack.preview());
    await succeeds(stack.up());
    assert.deepEqual(vendor.sent, [first, wrongOf[first]]);
    assertFields(saved(), { verified: true, formerRefused: undefined });
    await others();
    args = { ...args, credential: second };
    vendor.valid.add(second);
    await succeeds(stack.preview());
    assert.deepEqual(vendor.sent, []);
    const turned = await succeeds(stack.up());
    assert.doesNotMatch(turned.printed, /warning/);
    assert.deepEqual(turned.changes, { same: 1, replace: 1 });
    assert.deepEqual(vendor.sent, [second, second, second, wrongOf[second]]);
    assertFields(saved(), { verified: true, credential: second, formerRefused: undefined });
    // An `up` failed after the proof: the former one is deleted at the end of this one.
    const open = await succeeds(stack.up());
    assert.match(
      open.printed,
      /warning: The former credential is not refused: GET http.*\/validate responded with 200\./,
    );
    vendor.valid.delete(first);
    await succeeds(stack.preview());
    await succeeds(stack.up());
    assert.deepEqual(vendor.sent, [first, first]);
    assertFields(saved(), { verified: true, formerRefused: true });
    assert.deepEqual(leaksOf(String(saved()["memory"]), { first }), []);
    await others();
    await succeeds(stack.destroy());
    assert.deepEqual(vendor.sent, []);
  });

  it("tries a former one a last time when the next one turns, after a failed proof too", async () => {
    await succeeds(stack.up());
    const proves = args;
    args = { ...args, credential: second, withinSeconds: 0.1 };
    await fails(
      stack.up(),
      /Not verified\. The credential is not accepted: GET \S+ responded with 401\./,
      /REKEY_VERIF/,
    );
    // What is saved is still that of the first one.
    assert.ok(String(saved()["memory"]).includes(first));
    vendor.valid.add(second);
    args = { ...proves, credential: second };
    await succeeds(stack.up());
    args = { ...args, credential: third };
    vendor.valid.add(third);
    assert.deepEqual(vendor.sent.slice(-2), [second, wrongOf[second]]);
    assert.match((await succeeds(stack.up())).printed, /not refused.* It is not tried again/);
    assert.deepEqual(vendor.sent, [third, third, third, wrongOf[third], first]);
    vendor.valid.delete(second);
    await succeeds(stack.up());
    assert.deepEqual(vendor.sent, [second]);
    assertFields(saved(), { verified: true, formerRefused: true });
  });

  for (const status of [429, 503, undefined]) {
    it(`warns if the former one cannot be tried (${status ?? "no response"}), and tries it again`, async () => {
      await succeeds(stack.up());
      args = { ...args, credential: second };
      vendor.valid.add(second);
      await succeeds(stack.up());
      vendor.script = [status === undefined ? resetting : ({ answer }) => answer(status, { "retry-after": "60" })];
      const { printed } = await succeeds(stack.up());
      assert.match(
        printed,
        /warning: The former credential is not refused: GET \S+ (responded with \d+|failed: .*)\. If/,
      );
      vendor.script = [];
      vendor.valid.delete(first);
      await succeeds(stack.up());
      assertFields(saved(), { formerRefused: true });
    });
  }

  it("claims nothing of a rotation that it has verified before, and the other way round", async () => {
    const ofKey = args;
    let form: "access" | "key" = "access";
    let version = 1;
    stack = await TestStack.start(
      () => {
        const { access } = new PasswordRotation("cache", { databaseId: "cache", version });
        void new CredentialVerification("proof", form === "key" ? ofKey : { access });
      },
      { databases: ["cache"], credentials: "always" },
    );
    await succeeds(stack.up());
    version = 2;
    await succeeds(stack.up());
    assertFields(saved(), { credential: undefined, formerRefused: true });
    form = "key";
    assert.equal((await succeeds(stack.up())).changes.replace, 1);
    assertFields(saved(), { credential: first, formerRefused: undefined });
    form = "access";
    await succeeds(stack.up());
    assertFields(saved(), { credential: undefined, formerRefused: undefined });
  });

  const forgetting = {
    "saveCredentials: false": { form: () => ({ saveCredentials: false }), sends: 10 },
    "no status that refuses": { form: () => ({ http: http({ refusedStatuses: [] }) }), sends: 8 },
  };
  for (const [what, { form, sends }] of Object.entries(forgetting)) {
    it(`remembers no former one with ${what}, and says so of one that was not refused yet`, async () => {
      const change = () => (args = { ...args, ...form() });
      change();
      for (const credential of [first, second]) {
        args = { ...args, credential };
        vendor.valid.add(credential);
        assert.doesNotMatch((await succeeds(stack.up())).printed, /warning/);
      }
      await succeeds(stack.up());
      assertFields(saved(), { verified: true, formerRefused: undefined });
      assert.deepEqual(leaksOf(String(saved()["memory"]), { first }), []);
      args = { credential: third, http: http(), withinSeconds: 20 };
      vendor.valid.add(third);
      await succeeds(stack.up());
      assert.equal(vendor.sent.length, sends);
      change();
      const { printed } = await succeeds(stack.up());
      assert.match(printed, /warning: The former credential is not refused: .*It is not tried again, because saveCred/);
      await succeeds(stack.up());
      assertFields(saved(), { verified: true, formerRefused: undefined });
      assert.deepEqual(leaksOf(String(saved()["memory"]), { second }), []);
    });
  }

  const unknown = /The credential is not accepted: GET \S+ failed: .*\. Check the vendor's status/;
  /** A status decides, whatever follows it. */
  const decided =
    /is accepted, but a wrong one is accepted, too, so that nothing is proven: GET \S+ responded with 200\./;
  /** Without `sends`, it is tried until the end of its time. */
  const failures: Record<string, { script: Behaviour[]; says: RegExp; sends?: number }> = {
    "accepts everything": {
      script: [({ answer }) => answer(204, {}, "")],
      says: /is accepted, but a wrong one is accepted, too, so that nothing is proven: GET \S+ responded with 204\./,
      sends: 2,
    },
    "refuses everything": {
      script: [({ answer }) => answer(403)],
      says: /is not accepted: GET \S+ responded with 403\. Check/,
    },
    "does not say that a wrong one is refused": {
      script: [({ answer }) => answer(200), ({ answer }) => answer(404)],
      says: /it is not known whether a wrong one is refused: GET \S+ responded with 404\..*set refusedStatuses/,
      sends: 2,
    },
    redirects: { script: [({ answer }) => answer(302, { location: "/" })], says: /responded with 302\./ },
    "sends a body without end": {
      script: [
        ({ socket }) => {
          socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
          const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
          const write = () => void (socket.destroyed || socket.write(chunk, write));
          write();
        },
      ],
      says: decided,
      sends: 2,
    },
    "does not respond": { script: [() => undefined], says: unknown },
    "is cut off": {
      script: [({ socket }) => void socket.end("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{")],
      says: decided,
      sends: 2,
    },
  };
  for (const [what, { script, says, sends }] of Object.entries(failures)) {
    it(`fails if the server ${what}, and verifies again`, async () => {
      const proves = args;
      if (sends === undefined) args = { ...args, withinSeconds: 0.3 };
      vendor.script = [...script];
      await fails(
        stack.up(),
        says,
        /The verification changes nothing.*next `up` verifies again\. \[REKEY_VERIFICATION_FAILED\]/,
      );
      const { sent } = vendor;
      assert.equal(sent.length, sends ?? sent.length);
      assert.equal(stack.saved("proof"), undefined);
      vendor.script = [];
      args = proves;
      await succeeds(stack.up());
      assertFields(saved(), { verified: true });
    });
  }

  it("waits until a new key is known, and for as long as the server asks for", async () => {
    const late: Behaviour = ({ answer }) => answer(401);
    const limit: Behaviour = ({ answer }) => answer(429, { "retry-after": "1" });
    const away: Behaviour = ({ answer }) => answer(502);
    const rest: Behaviour = (exchange) => {
      vendor.script = [];
      exchange.answer(200);
    };
    vendor.script = [late, late, limit, rest, rest];
    const start = performance.now();
    await succeeds(stack.up());
    assert.ok(performance.now() - start > 1000);
    assert.deepEqual(vendor.sent, [first, first, first, first, wrongOf[first]]);
    const accepts: Behaviour = ({ answer }) => answer(200);
    vendor.script = [accepts, accepts, accepts, limit, away, ({ answer }) => ((vendor.script = []), answer(401))];
    args = { ...args, credential: second };
    await succeeds(stack.up());
    const wrong = wrongOf[second];
    assert.deepEqual(vendor.sent, [second, second, second, wrong, wrong, wrong]);
  });

  const odd = 'p "+/a&=';
  const basic = (password: string) => `Basic ${Buffer.from(`me:${password}`).toString("base64")}`;
  const forms: Record<string, { http: Partial<HttpProbeArgs>; credential?: string; sends: (string | undefined)[][] }> =
    {
      "in a header": {
        http: { headers: { "X-Key": "key {credential}!", "user-agent": "mine" }, method: "POST" },
        sends: [["POST", "/validate", undefined, `key ${first}!`, "mine"]],
      },
      "percent-encoded in the query": {
        http: { url: "/validate?a={credential}&b=1" },
        credential: odd,
        sends: [["GET", `/validate?a=p+%22%2B%2Fa%26%3D&b=1`, undefined, undefined]],
      },
      "in a parameter that is given twice": {
        http: { url: "/validate?a=1&a={credential}" },
        sends: [["GET", `/validate?a=1&a=${first}`]],
      },
      "and a wrong one, although its second half has neither letters nor digits": {
        http: {},
        credential: "a====",
        sends: [
          ["GET", "/validate", "Bearer a===="],
          ["GET", "/validate", "Bearer a====a"],
        ],
      },
      "as the password of a user, without a wrong one": {
        http: { username: "me" },
        credential: odd,
        sends: [["GET", "/validate", basic(odd), undefined]],
      },
      "as the password of a user, with a wrong one if the program says what refuses it": {
        http: { username: "me", refusedStatuses: [418], acceptedStatuses: [201] },
        sends: [
          ["GET", "/validate", basic(first), undefined],
          ["GET", "/validate", basic(wrongOf[first])],
        ],
      },
    };
  for (const [how, { http: form, credential = first, sends }] of Object.entries(forms)) {
    it(`sends the credential ${how}`, async () => {
      const { acceptedStatuses: [accepted = 200] = [], refusedStatuses: [refused = 401] = [] } = form as Record<
        string,
        number[]
      >;
      vendor.script = [({ answer }) => answer(accepted), ({ answer }) => answer(refused)];
      const url = `${vendor.server.url}${typeof form.url === "string" ? form.url : "/validate"}`;
      args = { credential, http: { ...form, url } };
      await succeeds(stack.up());
      assert.match(String(saved()["verified"]), /true/);
      const { requests } = vendor.server;
      assert.ok(requests.every(({ body, headers }) => body === "" && headers.host === vendor.server.url.slice(7)));
      for (const [index, expected] of sends.entries()) {
        const { method, path, headers } = requests[index] ?? assert.fail();
        const shown = [method, path, headers.authorization, headers["x-key"], headers["user-agent"]];
        assert.deepEqual(shown.slice(0, expected.length), expected);
      }
      if (form.username !== undefined && !form.refusedStatuses) assert.equal(requests.length, 1);
    });
  }

  it("shows nothing of a response that repeats what it was sent", async () => {
    const proves = {
      ...args,
      http: http({ username: canaries[second] ?? "", url: `${vendor.server.url}/v?k={credential}` }),
    };
    args = { ...proves, withinSeconds: 0.1 };
    vendor.valid.clear();
    const results = [await fails(stack.up(), /responded with 401/)];
    vendor.valid.add(first);
    args = proves;
    results.push(await succeeds(stack.up()));
    const shown = JSON.stringify(results.map(({ printed, outputs }) => ({ printed, outputs })));
    assert.deepEqual(leaksOf(shown, canaries), []);
    const { memory, credential, http: _http, ...plain } = saved();
    assert.equal(credential, first);
    assert.deepEqual(leaksOf(JSON.stringify(plain), canaries), []);
    assert.ok(String(memory).includes(first));
  });

  const url = "https://api.example.com/validate";
  const key = { credential: first };
  type Wrong = Record<string, [given: object, says: RegExp]>;
  const ofHttp = (rows: Wrong): Wrong =>
    Object.fromEntries(Object.entries(rows).map(([what, [http, says]]) => [what, [{ ...key, http }, says]]));
  const wrong: Wrong = {
    "both forms": [{ ...key, http: { url }, access: "{}" }, /access cannot be used with http/],
    "neither form": [
      key,
      /access is required: set access, or credential and http\..*credential cannot be used with access/s,
    ],
    "no credential": [{ http: { url } }, /credential is required/],
    "a credential that no header can have": [
      { credential: `${first}\n`, http: { url } },
      /credential must be printable ASCII.*remove the verification/,
    ],
    "an empty credential": [{ credential: "", http: { url } }, /credential must be .* not empty/],
    "a connection": [{ ...key, http: { url }, connection: { port: 1 } }, /connection cannot be used with http/],
    "saveCredentials with access": [
      { access: "{}", saveCredentials: true },
      /saveCredentials cannot be used with access|access must be/,
    ],
    ...ofHttp({
      "plain text": [{ url: "http://api.example.com" }, /http\.url must be a URL with https/],
      "a password in the URL": [{ url: "https://a:b@api.example.com" }, /http\.url must be .* without a user/],
      "the credential in the path": [{ url: `${url}/{credential}` }, /http\.url must .* in its query only/],
      "no URL": [{}, /http\.url must be a string/],
      "a header with a line break": [{ url, headers: { A: "b\nc" } }, /http\.headers\.A is not allowed: .* lines/],
      "the header Host": [{ url, headers: { hOst: "b" } }, /http\.headers\.hOst is not allowed/],
      "a length": [{ url, headers: { "content-length": "1" } }, /http\.headers\.content-length is not allowed/],
      "another method": [{ url, method: "PUT" }, /http\.method must be GET or POST/],
      "a status that proves nothing": [{ url, refusedStatuses: [429] }, /http\.refusedStatuses\S* must be a list of/],
      "a status that no response has": [{ url, acceptedStatuses: [99] }, /http\.acceptedStatuses\S* must be a list of/],
      "no status that accepts": [{ url, acceptedStatuses: [] }, /http\.acceptedStatuses must not be empty/],
      "a status that accepts and refuses": [
        { url, acceptedStatuses: [200, 404], refusedStatuses: [404] },
        /http must not have a status in both/,
      ],
      "a user and an own Authorization": [
        { url, username: "me", headers: { Authorization: "Basic {credential}" } },
        /http must not have a header Authorization in addition/,
      ],
      "an own Authorization without the credential": [
        { url, headers: { authorization: "Basic other" } },
        /http must not have a header Authorization in addition/,
      ],
      "an unknown part": [{ url, body: "x" }, /http must be an object that has no other parts than url, headers/],
    }),
  };
  for (const [what, [given, says]] of Object.entries(wrong)) {
    it(`refuses ${what}`, async () => {
      args = given;
      const { printed } = await fails(stack.preview(), says, /No request was made/);
      assert.deepEqual(leaksOf(printed, canaries), []);
    });
  }
});
