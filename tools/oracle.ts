import { parseArgs } from "node:util";
import { startOracle } from "../test/support/oracle.ts";

/**
 * node tools/oracle.ts [--json] [-- FLAG...]
 * Runs the real kube-apiserver on an etcd of its own until Ctrl-C. --json makes it store JSON; what follows -- is
 * passed on to kube-apiserver.
 */
const { values, positionals } = parseArgs({ options: { json: { type: "boolean" } }, allowPositionals: true });

const oracle = await startOracle({
  storageMediaType: values.json ? "application/json" : undefined,
  flags: positionals,
});
const { base, etcdEndpoint, certificateFile, tokens } = oracle;
process.stdout.write(`kube-apiserver is ready; Ctrl-C ends it.

  address  ${base}
  tokens   ${tokens.admin} (system:masters), ${tokens.alice} (no rights)
  etcd     ${etcdEndpoint}

  curl --cacert ${certificateFile} -H 'Authorization: Bearer ${tokens.admin}' ${base}/version
  kubectl --server=${base} --certificate-authority=${certificateFile} --token=${tokens.admin} get namespaces
  node test/golden/replay.mjs --base ${base} --token ${tokens.admin} --user alice=${tokens.alice} --release 1.37
`);

const stopped = Promise.withResolvers<undefined>();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopped.resolve(undefined));
const failure = await Promise.race([stopped.promise, oracle.exited]);
await oracle.kill();
if (failure !== undefined) {
  process.stderr.write(`${failure}\n`);
  process.exitCode = 1;
}
