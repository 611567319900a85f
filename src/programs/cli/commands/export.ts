import { type Command, Option } from "commander";
import type { KubeObject } from "../../../base/api/object.ts";
import { JsonClient } from "../../../base/net/json-client.ts";
import type { ServerAccess } from "../../../base/net/server-access.ts";
import { systemClock } from "../../../base/util/clock.ts";
import { EtcdSnapshot } from "../../../storage/bolt/etcd-snapshot.ts";
import type { StoreChoice } from "../../../storage/options.ts";
import { defaultConfig } from "../../server/config.ts";
import { keySpaceOf, objectKinds } from "../../server/object-kinds.ts";
import { openDirectly } from "../../server/open-store.ts";
import { DUMP_FORMS, type DumpForm, printObject } from "../../transfer/print-objects.ts";
import { serverObjects } from "../../transfer/server-objects.ts";
import { type EntrySource, entriesOf, storedObjects } from "../../transfer/stored-objects.ts";
import { type Example, Failure, type Io } from "../command.ts";
import { addStoreFlags, type StoreFlags, storedStoreOf } from "../flags/store-flags.ts";
import { addKubeconfigFlag, readServerAccess } from "../server-access.ts";

interface ExportFlags extends StoreFlags {
  readonly kubeconfig?: string;
  readonly snapshot?: string;
  readonly output: DumpForm;
}

/** Examples at the top of `--help`. */
export const examples: readonly Example[] = [
  ["Export all objects of a cluster", "binnacle export --kubeconfig ~/.kube/config > dump.yaml"],
  ["Export a store that no server has open", "binnacle export --store sqlite:objects.db > dump.yaml"],
  ["Export an etcd snapshot as JSON lines", "binnacle export --snapshot snapshot.db -o json > dump.json"],
];

/** Adds the flags that name the source. */
export function configure(command: Command, io: Io): void {
  addKubeconfigFlag(command)
    .option("--snapshot <file>", "etcd snapshot, as written by etcdctl snapshot save")
    .addOption(
      new Option("-o, --output <form>", "output format: YAML documents or JSON lines")
        .choices([...DUMP_FORMS])
        .default("yaml" satisfies DumpForm),
    );
  addStoreFlags(command, "URLs of the etcd cluster to export from").action((flags: ExportFlags) => run(flags, io));
}

async function run(flags: ExportFlags, io: Io): Promise<void> {
  const { kubeconfig, snapshot, output } = flags;
  const store = storedStoreOf(flags);
  if ([kubeconfig, snapshot, store].filter((one) => one !== undefined).length > 1) {
    const places = "--kubeconfig, --store, --etcd-servers and --snapshot";
    throw new Failure("more than one source to export from", `Use only one of ${places}.`);
  }
  const print = async (objects: AsyncIterable<KubeObject>) => {
    for await (const object of objects) io.print(printObject(object, output));
  };
  if (store) await fromStore(store, flags, io, print);
  else if (snapshot !== undefined) await fromSnapshot(snapshot, flags, io, print);
  else await fromServer(await readServerAccess(kubeconfig, io), print);
}

type Print = (objects: AsyncIterable<KubeObject>) => Promise<void>;

async function fromServer(access: ServerAccess, print: Print): Promise<void> {
  using client = new JsonClient(access, systemClock);
  await print(serverObjects(client));
}

async function fromStore(
  choice: StoreChoice,
  { etcdPrefix = defaultConfig.etcdPrefix }: ExportFlags,
  io: Io,
  print: Print,
): Promise<void> {
  const store = await openDirectly({ store: choice }, keySpaceOf({ etcdPrefix }).root, systemClock);
  try {
    await fromEntries(entriesOf(store), etcdPrefix, io, print);
  } finally {
    await store.close();
  }
}

async function fromSnapshot(
  file: string,
  { etcdPrefix = defaultConfig.etcdPrefix }: ExportFlags,
  io: Io,
  print: Print,
): Promise<void> {
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
    io.complain(`binnacle: warning: skipped ${skipped} objects of unknown kinds (no CustomResourceDefinition)\n`);
}
