import { loadAll } from "js-yaml";
import { eventually } from "../support/time.ts";
import { copyErrors, differences, listed, type States, statesOf } from "./compare.ts";
import { credentialsOf } from "./credentials.ts";
import { http1Line } from "./lines.ts";
import type { Stage } from "./phases.ts";
import { type Known, LABELS } from "./writers.ts";

interface Dumped {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: { readonly app?: string } };
  readonly data?: { readonly value?: string };
}

/** The states of the load's objects in a dump. */
function dumpedStates(dump: string): States {
  const objects = loadAll(dump) as Dumped[];
  return statesOf(objects.filter(({ kind, metadata }) => kind === "ConfigMap" && metadata.labels?.app === LABELS.app));
}

function copyOf(objects: ReadonlyMap<string, Known>): Map<string, Known> {
  return new Map([...objects].map(([name, known]) => [name, { ...known }]));
}

/** Takes a snapshot of etcd and a dump by the commands of the page, while writers write; both are judged. */
export async function backup({
  site,
  shell,
  load,
}: Stage): Promise<{ readonly told: string; readonly states: States }> {
  const judge = async (title: string, file: string): Promise<States> => {
    const before = copyOf(load.ledger.objects);
    await shell.run(title);
    const after = copyOf(load.ledger.objects);
    const states = dumpedStates(await site.read(file));
    const errors = copyErrors(before, after, states);
    if (errors.length > 0) throw new Error(`${file}: ${errors.join("; ")}`);
    return states;
  };
  const states = await judge("Backup", "snapshot.yaml");
  const dumped = await judge("Backup 2", "dump.yaml");
  // What was imported is what was exported.
  const access =
    "--etcd-cafile cluster/etcd-ca.crt --etcd-certfile cluster/etcd-admin.crt --etcd-keyfile cluster/etcd-admin.key";
  const etcd = `--etcd-prefix /copy --etcd-servers https://${site.hosts[0]?.address}:${site.ports.client} ${access}`;
  for (const place of ["--store sqlite:copy.db", etcd]) {
    const copy = dumpedStates(await shell.command(`binnacle export ${place}`));
    const wrong = differences(dumped, copy);
    if (wrong.length > 0) throw new Error(`${place}: ${wrong.join("; ")}`);
  }
  const told = `snapshot with ${states.size} objects of the load, dump with ${dumped.size}, imported twice: equal`;
  return { told, states };
}

/** Restores the snapshot by the commands of the page: all replicas and all watchers have exactly its objects. */
export async function restore({ site, shell, load }: Stage, snapshot: States): Promise<string> {
  await shell.run("Restore");
  for (const host of site.hosts) {
    const line = http1Line(site.urlOf(host), await credentialsOf(site));
    try {
      const wrong = differences(snapshot, await listed(line));
      if (wrong.length > 0) throw new Error(`restored, at ${host.name}: ${wrong.join("; ")}`);
    } finally {
      line.close();
    }
  }
  const isEqual = () => load.watchers.every(({ states }) => differences(snapshot, states).length === 0);
  await eventually(isEqual, { withinMs: 30_000, everyMs: 50, what: "watchers have what was restored" });
  return `3 replicas and ${load.watchers.length} watchers have the ${snapshot.size} objects of the snapshot`;
}
