import path from "node:path";
import { type Command, Option } from "commander";
import type { KubeObject } from "../api/object.ts";
import { JsonClient } from "../client/json-client.ts";
import { readKubeconfig } from "../client/kubeconfig-read.ts";
import { systemClock } from "../lib/clock.ts";
import { DEFAULT_CERT_DIR, defaultConfig, type StoreChoice } from "../server/config.ts";
import { keySpaceOf, objectKinds } from "../server/object-kinds.ts";
import { openDirectly } from "../server/open-store.ts";
import { EtcdSnapshot } from "../storage/bolt/etcd-snapshot.ts";
import { DUMP_FORMS, type DumpForm, printObject } from "../transfer/print-objects.ts";
import { serverObjects } from "../transfer/server-objects.ts";
import { type EntrySource, entriesOf, storedObjects } from "../transfer/stored-objects.ts";
import { type Example, Failure, type Io } from "./command.ts";
import { addStoreFlags, type StoreFlags, storeOf } from "./store-flags.ts";

interface ExportFlags extends StoreFlags {
  readonly kubeconfig?: string;
  readonly snapshot?: string;
  readonly output: DumpForm;
}

/** What `--help` begins with. */
export const examples: readonly Example[] = [
  [
    "All objects of a cluster, with everything that its server knows of them",
    "binnacle export --kubeconfig ~/.kube/config > dump.yaml",
  ],
  ["Those of a store that no server has open", "binnacle export --store sqlite:objects.db > dump.yaml"],
  ["Those of a snapshot of etcd, as lines of JSON", "binnacle export --snapshot snapshot.db -o json > dump.json"],
];

/** Adds the flags that name where objects come from. */
export function configure(command: Command, io: Io): void {
  command
    .option("--kubeconfig <file>", `how to reach a server; $KUBECONFIG or ${DEFAULT_CERT_DIR}/kubeconfig without it`)
    .option("--snapshot <file>", "what etcdctl snapshot save wrote")
    .addOption(
      new Option("-o, --output <form>", "documents of YAML, or lines of JSON")
        .choices([...DUMP_FORMS])
        .default("yaml" satisfies DumpForm),
    );
  addStoreFlags(command).action((flags: ExportFlags) => run(flags, io));
}

async function run(flags: ExportFlags, io: Io): Promise<void> {
  const { kubeconfig, snapshot, output } = flags;
  const store = storeOf(flags);
  if ([kubeconfig, snapshot, store].filter((one) => one !== undefined).length > 1) {
    const places = "--kubeconfig, --store, --etcd-servers and --snapshot";
    throw new Failure("there are several places to export from", `Give one of ${places}`);
  }
  const print = async (objects: AsyncIterable<KubeObject>) => {
    for await (const object of objects) io.print(printObject(object, output));
  };
  if (store) await fromStore(store, flags, io, print);
  else if (snapshot !== undefined) await fromSnapshot(snapshot, flags, io, print);
  else await fromServer(kubeconfig ?? usualKubeconfig(io), print);
}

type Print = (objects: AsyncIterable<KubeObject>) => Promise<void>;

function usualKubeconfig({ env, cwd }: Io): string {
  const [first = ""] = (env.KUBECONFIG ?? "").split(path.delimiter);
  return first === "" ? path.join(cwd, DEFAULT_CERT_DIR, "kubeconfig") : first;
}

async function fromServer(kubeconfig: string, print: Print): Promise<void> {
  using client = new JsonClient(await readKubeconfig(kubeconfig), systemClock);
  await print(serverObjects(client));
}

async function fromStore(choice: StoreChoice, { etcdPrefix }: ExportFlags, io: Io, print: Print): Promise<void> {
  const store = await openDirectly({ store: choice }, keySpaceOf({ etcdPrefix }).root, systemClock);
  try {
    await fromEntries(entriesOf(store), etcdPrefix, io, print);
  } finally {
    await store.close();
  }
}

async function fromSnapshot(file: string, { etcdPrefix }: ExportFlags, io: Io, print: Print): Promise<void> {
  const snapshot = EtcdSnapshot.open(file, keySpaceOf({ etcdPrefix }).root);
  try {
    await fromEntries((prefix) => snapshot.entries(prefix), etcdPrefix, io, print);
  } finally {
    snapshot.close();
  }
}

async function fromEntries(source: EntrySource, etcdPrefix: string, io: Io, print: Print): Promise<void> {
  let skipped = 0;
  const kinds = objectKinds({ ...defaultConfig, etcdPrefix }, systemClock);
  await print(storedObjects(source, kinds, () => void skipped++));
  if (skipped > 0)
    io.complain(`binnacle: ${skipped} objects are left out: no CustomResourceDefinition defines their kinds\n`);
}
