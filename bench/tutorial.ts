import { TutorialCluster } from "../test/tutorial/cluster.ts";
import { readSteps } from "../test/tutorial/steps.ts";
import { median } from "./support.ts";

/** How long each command of the basics tutorial takes, until it prints what it prints on a real cluster. */
const cluster = await TutorialCluster.start();
try {
  const durations: number[] = [];
  for (const step of await readSteps("basics")) {
    const ms = await cluster.check(step);
    durations.push(ms);
    process.stdout.write(`${ms.toFixed(0).padStart(6)} ms  ${step.command}\n`);
  }
  process.stdout.write(
    `${durations.length} commands, median ${median(durations).toFixed(0)} ms, slowest ${Math.max(...durations).toFixed(0)} ms\n`,
  );
} finally {
  await cluster.stop();
}
