import { Proof } from "./proof.ts";

/**
 * node test/what-if/run.ts [COUNT]
 * Makes a cluster of the real kube-apiserver with the objects of so many samples (5,625, of which 5,000 are in it), dumps it, judges as many manifests
 * by each dump and compares every judgement with the answer to a dry run there. Ends with 1 when one differs.
 */
const count = Number(process.argv[2] ?? 5625);
const proof = await Proof.start(count);
try {
  for (const { what, compared, refused, differences, seconds } of await proof.isolated(await proof.dumps())) {
    const told = `${compared} manifests, ${refused} refused, ${differences.length} differences`;
    process.stdout.write(`${what}: ${told}, ${seconds.toFixed(1)} s\n`);
    for (const difference of differences.slice(0, 10)) process.stdout.write(`  ${JSON.stringify(difference)}\n`);
    if (differences.length > 0) process.exitCode = 1;
  }
} finally {
  await proof.stop();
}
