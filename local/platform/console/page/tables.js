// The three tables: flow-control keys, databases, requests.
import { chart } from "./chart.js";
import { element, rowsOf } from "./rows.js";

/**
 * @param lately the History of the keys
 * @param act called with a key and `reset`, `pause` or `resume`
 */
export function keysTable(body, lately, act) {
  let now = 0;
  const show = rowsOf(
    body,
    (record) => record.flowControlKey,
    (key) => {
      const tags = element("span");
      const waiting = element("td", { class: "number" });
      const running = gauge(`Running of ${key}`);
      const rate = gauge(`Rate of ${key}`);
      const line = chart(key);
      line.svg.setAttribute("width", "160");
      line.svg.setAttribute("height", "28");
      const reset = button("Reset", `Reset flow control of ${key}`, () => act(key, "reset"));
      const pause = button("Pause", "", () => act(key, pause.textContent.toLowerCase()));
      const row = element(
        "tr",
        {},
        element("th", { scope: "row" }, key, tags),
        waiting,
        running.cell,
        rate.cell,
        element("td", {}, line.svg),
        element("td", {}, element("div", { class: "buttons" }, reset, pause)),
      );
      const update = (record) => {
        const { isPaused, isPinnedParallelism, isPinnedRate } = record;
        const words = [isPaused && "paused", (isPinnedParallelism || isPinnedRate) && "pinned"].filter(Boolean);
        if (tags.textContent !== words.join("")) {
          tags.replaceChildren(...words.map((word) => element("span", { class: "tag" }, word)));
        }
        waiting.textContent = record.waitListSize;
        running.show(record.parallelismCount, record.parallelismMax);
        rate.show(record.rateCount, record.rateMax, record.rateMax === undefined ? "" : periodText(record, now));
        const action = isPaused ? "Resume" : "Pause";
        pause.textContent = action;
        pause.setAttribute("aria-label", `${action} delivery of ${key}`);
        line.draw(lately.of(key), now);
      };
      return { row, update };
    },
  );
  return (records, time) => {
    now = time;
    show(records);
  };
}

/** @param reset called with the id of a database */
export function databasesTable(body, reset) {
  return rowsOf(
    body,
    ({ id }) => id,
    (id) => {
      const [resets, last, generation] = ["number", "", "number"].map((name) => element("td", { class: name }));
      const action = button("Reset password", `Reset password of ${id}`, () => reset(id));
      const row = element(
        "tr",
        {},
        element("th", { scope: "row" }, id),
        resets,
        last,
        generation,
        element("td", {}, action),
      );
      const update = (database) => {
        resets.textContent = database.resets;
        last.textContent = database.lastResetAt ? new Date(database.lastResetAt).toLocaleString() : "never";
        generation.textContent = database.generation;
      };
      return { row, update };
    },
  );
}

export function showRequests(body, requests) {
  const rows = requests.map(({ method, path, status }) => {
    const outcome = element("td", { class: status >= 400 ? "number failed" : "number" }, String(status ?? "none"));
    return element("tr", {}, element("td", {}, method), element("td", {}, path), outcome);
  });
  body.replaceChildren(...rows);
}

/** A count, with a gauge if it has a limit. Not a `meter` element, because each browser draws it differently. */
function gauge(label) {
  const bar = element("div");
  const meter = element("div", { class: "meter", role: "meter", "aria-valuemin": "0", "aria-label": label }, bar);
  const text = element("span");
  const detail = element("span", { class: "detail" });
  return {
    cell: element("td", {}, meter, text, " ", detail),
    show(count, limit, more = "") {
      meter.hidden = limit === undefined;
      meter.setAttribute("aria-valuemax", limit);
      meter.setAttribute("aria-valuenow", count);
      bar.style.width = `${limit > 0 ? Math.min(100, (100 * count) / limit) : 0}%`;
      text.textContent = limit === undefined ? String(count) : `${count} of ${limit}`;
      detail.textContent = limit === undefined ? "no limit" : more;
    },
  };
}

function periodText({ ratePeriod = 1, ratePeriodStart }, now) {
  const left = ratePeriodStart === undefined ? undefined : Math.ceil(ratePeriodStart + ratePeriod - now / 1000);
  return `in ${duration(ratePeriod)}${left > 0 && ratePeriod > 1 ? `, ${duration(left)} left` : ""}`;
}

/** The largest unit, rounded up. */
function duration(seconds) {
  const [unit, length] = [
    ["d", 86_400],
    ["h", 3_600],
    ["min", 60],
    ["s", 1],
  ].find(([, length]) => seconds >= length);
  return `${Math.ceil(seconds / length)} ${unit}`;
}

function button(text, label, click) {
  const made = element("button", { type: "button", "aria-label": label }, text);
  made.addEventListener("click", click);
  return made;
}
