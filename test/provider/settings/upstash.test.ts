import assert from "node:assert/strict";
import { listAccount } from "../../../provider/platform/accountList";
import { SecretOperations } from "../../../provider/platform/secretOperations";
import { databasePassword } from "../../../provider/rotation/kinds/databasePassword";
import { FlowControl, type KeyOperation } from "../../../provider/platform/flowControl";
import { deliveryOfResponse } from "../../../provider/platform/retry";
import { databaseFields } from "../../../provider/records/database";
import { camelCase } from "../../../provider/records/fields";
import { flowControlFields } from "../../../provider/records/flowControl";
import { startPlatform, type Platform } from "../../../local/platform/index";
import { PlatformClient } from "../../../provider/platformClient";
import { RejectedError } from "../../../provider/platform/errors";
import { Settings } from "../../../provider/settings/settings";
import { presets } from "../../../provider/settings/presets";
import { FakeRequester } from "../../support/fakeRequester";

/** An operation: its query parameters, and the statuses that its own description has. */
interface Operation {
  readonly query?: readonly string[];
  readonly statuses: readonly number[];
}

/** Operations of the vendor that Rekey may use: from its public API descriptions of August 2026. */
const operations: Readonly<Record<string, Operation>> = {
  "POST /v2/redis/reset-password/{id}": { statuses: [200] },
  "GET /v2/redis/database/{id}": { query: ["credentials"], statuses: [200] },
  "GET /v2/redis/databases": { statuses: [200] },
  // The description has no `search`: docs/upstash.md.
  "GET /v2/flowControl": { query: ["search"], statuses: [200] },
  "GET /v2/flowControl/{id}": { statuses: [200, 404] },
  "POST /v2/flowControl/{id}/pause": { statuses: [200, 400] },
  "POST /v2/flowControl/{id}/resume": { statuses: [200, 400] },
  "POST /v2/flowControl/{id}/pin": { query: ["parallelism", "rate", "period"], statuses: [200, 400] },
  "POST /v2/flowControl/{id}/unpin": { query: ["parallelism", "rate"], statuses: [200, 400] },
  // The description has no `reset`, which the vendor's changelog announced: docs/upstash.md.
  "POST /v2/flowControl/{id}/reset": { statuses: [200] },
  "POST /v2/flowControl/{id}/resetRate": { statuses: [200, 400, 500] },
  "GET /v2/globalParallelism": { statuses: [200] },
};
/** Statuses that the description of the management interface lists for all of its operations. */
const managementStatuses = [200, 400, 401, 403, 404, 405, 406, 429, 500, 503];

/** The fields of a database in the same description. */
const fields =
  "database_id database_name region port creation_time state endpoint tls db_max_clients db_max_request_size " +
  "db_disk_threshold db_max_entry_size db_memory_threshold db_max_commands_per_second db_request_limit type budget " +
  "primary_region primary_members all_members eviction auto_upgrade consistent modifying_state db_resource_size " +
  "db_type db_conn_idle_timeout db_lua_timeout db_lua_credits_per_min db_store_max_idle db_max_loads_per_sec " +
  "db_acl_enabled db_acl_default_user_status db_eviction last_plan_upgrade_time replicas customer_id " +
  "daily_backup_enabled read_regions securityAddons prometheus_enabled prod_pack_enabled";
const keyFields =
  "flowControlKey waitListSize parallelismMax parallelismCount rateMax rateCount ratePeriod ratePeriodStart " +
  "isPinnedParallelism isPinnedRate isPaused";

describe("rekey:platform: upstash", () => {
  const { values } = presets.upstash;
  const id = "4f8a4c5e-0000-4000-8000-000000000001";

  it("sends only requests that the vendor's API description has", async () => {
    const requester = new FakeRequester(() => ({ status: 403 }));
    const paths = { reset: values.resetPasswordPath ?? "", read: values.databasePath ?? "none" };
    const databases = new SecretOperations(requester, databasePassword, paths);
    const flowControlFor = (name: string) => new FlowControl(requester, { name });
    const flowControl = flowControlFor(values.flowControlResetAction ?? "");
    const consequences = { "not sent": "", rejected: "", "maybe applied": "" };
    const change = (action: KeyOperation["action"], query = {}) =>
      flowControl.change(id, { action, query }, consequences);
    const calls = [
      databases.reset(id),
      databases.read(id),
      databases.read(id, { hideCredentials: true }),
      listAccount(requester, databasePassword, { path: values.databaseListPath ?? "", advice: "" }),
      flowControl.list(),
      flowControl.list("orders"),
      flowControl.get(id),
      flowControl.globalParallelism(),
      flowControl.reset(id, true),
      flowControlFor("resetRate").reset(id, true),
      change("pause"),
      change("resume"),
      change("pin", { parallelism: "1", rate: "1", period: "1" }),
      change("unpin", { parallelism: "true", rate: "true" }),
    ];
    await Promise.allSettled(calls);
    assert.equal(requester.sent.length, calls.length);
    const used = requester.sent.map(({ method, path, query = {} }) => {
      const operation = `${method} ${path.replace(id, "{id}")}`;
      const unknown = Object.keys(query).filter((name) => !operations[operation]?.query?.includes(name));
      assert.deepEqual(unknown, [], operation);
      return operation;
    });
    assert.deepEqual([...new Set(used)].sort(), Object.keys(operations).sort());
  });

  describe("resets a key by", () => {
    let platform: Platform;
    before(async () => (platform = await startPlatform()));
    after(() => platform.close());
    beforeEach(() => platform.reset());

    const client = (given: Readonly<Record<string, string>> = {}) => {
      const written = { platform: "upstash", queueUrl: platform.url, queueToken: platform.queueToken, ...given };
      const settings = new Settings((name) => (written as Record<string, string>)[name]);
      return new PlatformClient(settings).permitting("resets");
    };
    const posted = () =>
      platform.requests.filter(({ method }) => method === "POST").map(({ path }) => path.split("/").slice(3).join(" "));

    it("the whole reset, if there is one", async () => {
      assert.equal(await client().flowControl.reset("orders", true), "reset");
      assert.deepEqual(posted(), ["orders reset"]);
    });

    it("resetRate if there is not, which a call with a time limit remembers", async () => {
      platform.failNext({ path: /\/reset$/, status: 405, times: 2 });
      const run = client();
      assert.equal(await run.flowControl.reset("orders", true), "resetRate");
      assert.equal(await run.within(10_000).flowControl.reset("emails", true), "resetRate");
      assert.deepEqual(posted(), ["orders reset", "orders resetRate", "emails resetRate"]);
    });

    for (const flowControlResetAction of ["reset", "resetRate"]) {
      it(`only ${flowControlResetAction} if that is set`, async () => {
        platform.failNext({ method: "POST", status: 404 });
        await assert.rejects(client({ flowControlResetAction }).flowControl.reset("orders", true), RejectedError);
        assert.deepEqual(posted(), [`orders ${flowControlResetAction}`]);
      });
    }
  });

  it("takes only the documented success for one, and never a documented rejection for a possible reset", () => {
    const documented = [...Object.values(operations).flatMap(({ statuses }) => statuses), ...managementStatuses];
    for (const status of new Set(documented)) {
      const expected = status === 200 ? "responded" : status < 500 ? "rejected" : "maybe applied";
      assert.equal(deliveryOfResponse(status), expected, String(status));
    }
  });

  it("reads the fields that the description has, and no others", () => {
    const named = (list: string) => list.split(" ").map(camelCase).sort();
    assert.deepEqual(Object.keys(databaseFields).sort(), named(fields));
    assert.deepEqual(Object.keys(flowControlFields).sort(), named(keyFields));
  });
});
