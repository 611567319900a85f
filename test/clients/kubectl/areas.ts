import { authentication, authorization, certificate, rbac } from "./areas/access.ts";
import { apply } from "./areas/apply.ts";
import { batch, create, results, run, version, whoami } from "./areas/basics.ts";
import { deletion, diff, saveConfig, storage, templateOutput } from "./areas/changing.ts";
import { convert, help, kubeconfig, kuberc, legacyScript, plugins, proxy } from "./areas/client.ts";
import { core } from "./areas/core.ts";
import { crd, discovery } from "./areas/custom.ts";
import { debug, events, exec, nodeManagement, waiting } from "./areas/living.ts";
import { genericResources, get, requestTimeout } from "./areas/reading.ts";
import { apps, scale } from "./areas/workloads.ts";
import type { Area } from "./cases.ts";

/** All areas: one for each of the Kubernetes project's scripts about kubectl with a bare control plane. */
export const AREAS: readonly Area[] = [
  apply,
  apps,
  authentication,
  authorization,
  batch,
  certificate,
  convert,
  core,
  crd,
  create,
  debug,
  deletion,
  diff,
  discovery,
  events,
  exec,
  genericResources,
  get,
  help,
  kubeconfig,
  kuberc,
  legacyScript,
  nodeManagement,
  plugins,
  proxy,
  rbac,
  requestTimeout,
  results,
  run,
  saveConfig,
  scale,
  storage,
  templateOutput,
  version,
  waiting,
  whoami,
];
