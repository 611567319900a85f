import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type FamilyOptions, MetricRegistry } from "../../src/base/metrics/metrics.ts";
import { startServer } from "../../src/programs/library/start-server.ts";
import { code, head, table } from "./markdown.ts";

interface RecordedFamily {
  readonly type: string;
  readonly options: FamilyOptions<string>;
  /** Where the labels are only known when the value is read. */
  readonly read?: () => number | undefined | readonly { readonly labels: object }[];
}

/** Metrics of audit are there where there is audit. */
const POLICY = JSON.stringify({ apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata" }] });

/** Every family of metrics that a server registers when it starts. */
async function registeredFamilies(): Promise<RecordedFamily[]> {
  const families: RecordedFamily[] = [];
  const { counter, gauge, histogram, measured } = MetricRegistry.prototype;
  const restored = { counter, gauge, histogram, measured };
  const record = (type: string, options: FamilyOptions<string>, read?: RecordedFamily["read"]) =>
    void families.push({ type, options, read });
  Object.assign(MetricRegistry.prototype, {
    counter(this: MetricRegistry, options: FamilyOptions<string>) {
      record("counter", options);
      return counter.call(this, options);
    },
    gauge(this: MetricRegistry, options: FamilyOptions<string>) {
      record("gauge", options);
      return gauge.call(this, options);
    },
    histogram(this: MetricRegistry, options: Parameters<typeof histogram>[0]) {
      record("histogram", options);
      return histogram.call(this, options);
    },
    measured(this: MetricRegistry, ...[type, options, read]: Parameters<typeof measured>) {
      record(type, options, read);
      measured.call(this, type, options, read);
    },
  });
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-metrics-"));
  try {
    const policyFile = path.join(folder, "policy.json");
    await writeFile(policyFile, POLICY);
    await using _server = await startServer({
      log: false,
      audit: { policyFile, log: { path: path.join(folder, "log") } },
    });
    return families.map(({ type, options, read }) => ({
      type,
      options: { ...options, labels: labelsOf(options, read) },
    }));
  } finally {
    Object.assign(MetricRegistry.prototype, restored);
    await rm(folder, { recursive: true });
  }
}

function labelsOf({ labels = [] }: FamilyOptions<string>, read: RecordedFamily["read"]): string[] {
  const found = read?.();
  return Array.isArray(found) ? Object.keys(found[0]?.labels ?? {}).sort() : [...labels].sort();
}

/** The text of docs/reference/metrics.md. */
export async function metricsPage(): Promise<string> {
  const families = new Map((await registeredFamilies()).map((family) => [family.options.name, family]));
  const rows = [...families.keys()].sort().map((name) => {
    const { type, options } = families.get(name) as RecordedFamily;
    const [, stage = "", help = ""] = /^(?:\[(\w+)\] ?)?(.*)$/s.exec(options.help) ?? [];
    return {
      isOwn: name.startsWith("binnacle_"),
      cells: [code(name), type, (options.labels ?? []).map(code).join(", "), stage, help],
    };
  });
  const columns = ["metric", "type", "labels", "stability", "what it tells"];
  const pick = (isOwn: boolean) => rows.filter((row) => row.isOwn === isOwn).map(({ cells }) => cells);
  return [
    head(
      "Metrics",
      "`/metrics` shows them in the text format of Prometheus. Reading it needs permission to get the path `/metrics`. A family without any series yet is not shown; of 10,000 series of one family on, all others count as one whose labels are `other`. [dashboard.json](../dashboard.json) is for Grafana.",
    ),
    "## Under the names of kube-apiserver, etcd's client and Go's runtime",
    "",
    "What they tell is in the words of the real ones, so that dashboards and alerts go on working; an empty text is theirs.",
    "",
    table(columns, pick(false)),
    "## Of Binnacle alone",
    "",
    table(
      ["metric", "type", "labels", "what it tells"],
      pick(true).map((cells) => cells.toSpliced(3, 1)),
    ),
  ].join("\n");
}
