import { eventually } from "../support/time.ts";
import type { Stage } from "./phases.ts";
import { dashboardExpressions, type Prometheus } from "./prometheus.ts";

/** What Prometheus has scraped: all replicas, the requests that were counted here, and data for the panels of the dashboard. */
export async function scraped({ shell, load }: Stage, prometheus: Prometheus): Promise<string> {
  await eventually(async () => (await prometheus.number("sum(up)")) === 6, {
    withinMs: 20_000,
    everyMs: 200,
    what: "both endpoints of all three replicas are scraped",
  });
  const samples = (await prometheus.number("sum(scrape_samples_scraped)")) ?? 0;
  const expressions = await dashboardExpressions();
  const results = await Promise.all(expressions.map((expression) => prometheus.query(expression)));
  const empty = expressions.filter((_, at) => results[at]?.length === 0);
  // 3: names that promtool would have chosen otherwise, which are kube-apiserver's.
  await shell.command("promtool check metrics < metrics.txt > lints.txt 2>&1 || [ $? = 3 ]");
  const creates = await prometheus.number(
    'sum(increase(apiserver_request_total{verb="POST",resource="configmaps"}[3m]))',
  );
  if (!creates || creates < load.ledger.creates / 2) throw new Error(`${creates} creates are counted`);
  if (empty.length > 0) throw new Error(`the dashboard has no data for ${empty.join("; ")}`);
  return `${samples} samples of 3 replicas; all ${expressions.length} expressions of the dashboard have data`;
}
