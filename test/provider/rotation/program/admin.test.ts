import assert from "node:assert/strict";
import { resources } from "../../../../provider/engine/resources";
import { unknownValue } from "../../../../provider/pulumi/values";
import { RealResource } from "../sources/user/redisUser";
import { fieldsIn, tableOf } from "../tables";

const password = "canary-admin-0c2f";
const values = { host: "redis.example.com", port: 6379, password };
/** The output `access` of a database's rotation. */
const accessWith = (more: object = {}): string => {
  const record = { endpoint: "redis.example.com", port: 6379, tls: true };
  const known = { id: "db", of: "PasswordRotation", count: 1, salt: "salt", record };
  return JSON.stringify({ ...known, current: { name: "password", mark: "mark", value: password }, ...more });
};

/**
 * An administrator in a cell: `values` or `access`, with some fields changed. A field that is null is left out of
 * values, and is null in an access.
 */
function adminIn(cell: string): unknown {
  const [, form, more = ""] = /^(values|access)\b,?(.*)$/.exec(cell) ?? [];
  const fields = fieldsIn(more);
  if (form === "access") return accessWith(fields);
  if (form === undefined) return cell === "unknown" ? unknownValue : cell;
  return Object.fromEntries(Object.entries({ ...values, ...fields }).filter(([, value]) => value !== null));
}

describe("admin: the administrator of a user", () => {
  const user = new RealResource("AclUserRotation");
  const check = ({ admin, inputs }: { admin: string; inputs: string }): string => {
    const given = { userName: "app", admin: adminIn(admin), ...fieldsIn(inputs) };
    return user.check(given);
  };

  const right = tableOf(
    ["admin", "inputs"],
    `
    values
    values, tls: null, username: ops
    values, host: localhost, tls: false
    values, password: unknown
    access
    access, current: null
    access, current: { name: password, mark: mark }
    unknown
    values, username: ops     | userName: default
    access, current: null     | userName: default
    unknown                   | userName: default
    values, username: unknown | userName: unknown
    values                    | overlap: retirement
    values                    | overlap: none
    values                    | overlap: 24h
    values                    | overlap: unknown
    values                    | saveCredentials: false, overlap: none, encryptFor: unknown
    `,
  );
  for (const one of right) it(`may be ${one.admin} ${one.inputs}`, () => assert.equal(check(one), ""));

  const isWhat =
    "^admin must be the output \\`access\\` of a PasswordRotation, or an object with host, port and password";
  const wrong = tableOf(
    ["title", "admin", "inputs", "says"],
    `
    an empty name                                 | values                                                         | userName: ""                          | ^userName must not be empty
    a name with a space                           | values                                                         | userName: "a b"                       | ^userName must not contain white space or NUL
    a name that changes the direction of text     | values                                                         | userName: "a\\u202eb"                 | ^userName must not contain white space or NUL, .*or invisible characters
    a name with NUL                               | values                                                         | userName: "a\\0b"                     | ^userName must not contain white space or NUL
    an access with a number as its host           | access, connection: { host: 5 }                                |                                       | ^admin\\.host must be a string
    no admin                                      | values                                                         | admin: null                           | ^admin is required
    an admin that is a number                     | values                                                         | admin: 1                              | ${isWhat}
    an admin that is a password                   | ${password}                                                    |                                       | ${isWhat}
    the access of a fleet                         | {"a":{}}                                                       |                                       | ${isWhat}
    the access of an index                        | access, of: VectorTokenRotation                                |                                       | ${isWhat}
    an access with a REST token only              | access, current: { name: restToken, mark: mark }               |                                       | ^admin must have a password, which AUTH needs
    an admin without a password                   | values, password: null                                         |                                       | ^admin\\.password is required
    an empty password                             | values, password: ""                                           |                                       | ^admin\\.password must not be empty
    an admin without a host                       | values, host: null                                             |                                       | ^admin\\.host is required
    an admin with a URL as host                   | values, host: "redis://:${password}@x"                         |                                       | ^admin\\.host must be a host name
    an admin with another port                    | values, port: 0                                                |                                       | ^admin\\.port must be
    an admin in plain text                        | values, tls: false                                             |                                       | ^admin\\.tls must not be false
    an access in plain text                       | access, connection: { host: redis.example.com, tls: false }    |                                       | ^admin\\.tls must not be false
    an admin that is the user                     | values, username: app                                          |                                       | ^admin must not be the user itself: its former password, with which it logs in, is retired
    an admin without a name for the user default  | values                                                         | userName: default                     | ^admin must not be the user itself: .*retired\\. To reset that user of a database, use PasswordRotation
    an access without a name for the user default | access                                                         | userName: default                     | ^admin must not be the user itself
    an access whose password is that of the user  | access, current: { name: password, mark: mark, username: app } |                                       | ^admin must not be the user itself
    an access of a database of unknown address    | access, record: null                                           |                                       | ^admin\\.host is unknown for database "db": the platform has not shown its record\\. Set host
    an overlap of another form                    | values                                                         | overlap: soon                         | ^overlap must be "retirement", "none" or a duration: a number with h, d or w \\(12h, 30d, 4w\\), or ISO 8601
    an overlap as long as the schedule            | values                                                         | overlap: 24h, rotateEvery: 1d         | ^overlap must be shorter than rotateEvery
    a password that is saved nowhere              | values                                                         | saveCredentials: false, overlap: none | ^saveCredentials must not be false without encryptFor, because nothing shows the new password[^\\n]*$
    a connection with a user name                 | values                                                         | connection: { username: x }           | ^connection\\.username is not an argument \\(known: host, port, tls\\)
    `,
  );
  for (const { title, says, ...one } of wrong) {
    it(`is refused, or another input, for ${title}`, () => {
      const text = check(one);
      assert.match(text, new RegExp(says));
      assert.match(text, /REKEY_INPUT_INVALID/);
      assert.ok(!text.includes(password));
    });
  }

  it("names the server for which the user is claimed, however the program gives it", () => {
    const { settings } = user.start().options;
    const claims = (admin: string, userName: unknown = "app") =>
      (resources.AclUserRotation.claims?.({ userName, admin: adminIn(admin) }, settings) ?? []).map(
        (one) => one.subject,
      );
    assert.deepEqual(claims("values"), ['user "app" of redis.example.com:6379']);
    assert.deepEqual(claims("access"), ['user "app" of database "db"', 'user "app" of redis.example.com:6379']);
    assert.deepEqual(claims("access, record: null"), ['user "app" of database "db"']);
    for (const admin of ["unknown", "values, host: unknown"]) assert.deepEqual(claims(admin), []);
    assert.deepEqual(claims("values", unknownValue), []);
  });
});
