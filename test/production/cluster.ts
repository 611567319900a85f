import { Balancer } from "./balancer.ts";
import { credentialsOf } from "./credentials.ts";
import { startHaproxy } from "./haproxy.ts";
import { Load } from "./load.ts";
import type { Stage } from "./phases.ts";
import { Services } from "./services.ts";
import { Shell } from "./shell.ts";
import { Site } from "./site.ts";

/**
 * Builds the cluster by the commands of docs/production.md, up to clients who have not begun. With `haproxy`, that
 * program is the balancer. Whatever has to be ended goes onto the stack.
 */
export async function buildCluster(stack: AsyncDisposableStack, haproxy?: string): Promise<Stage> {
  const site = await Site.make();
  stack.defer(() => site.remove());
  const services = new Services(site);
  stack.defer(() => services.stopAll());
  const shell = new Shell(site, services);
  await shell.open();
  stack.defer(() => shell.close());
  await shell.run("Hosts");
  await shell.run("Certificates and keys");
  await shell.run("Start");
  const credentials = await credentialsOf(site);
  if (haproxy !== undefined) {
    const running = await startHaproxy(haproxy, site);
    stack.defer(() => running.kill());
  } else {
    const backends = site.hosts.map(({ address }) => ({ address, port: site.ports.api }));
    const balancer = new Balancer(backends, credentials.ca);
    await balancer.listen(site.apiAddress, site.ports.api);
    stack.defer(() => balancer.close());
  }
  const greeting = await shell.run("Load balancer");
  if (!greeting.includes("readyz check passed")) throw new Error(greeting);
  const load = new Load(site.apiUrl, credentials);
  stack.defer(() => load.stop());
  return { site, services, shell, load };
}
