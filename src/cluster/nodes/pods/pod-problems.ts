import { getMember } from "../../../base/util/members.ts";
import type { Container } from "../../../kinds/types/container.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import { messageOf } from "../../controllers/shared/controller.ts";
import { containerEnv, type PodPlacement } from "../behaviour/container-env.ts";
import { containerStatuses, isRunning, podContainers } from "./containers.ts";
import { isMounted, volumeProblems } from "./volume-problems.ts";

/** Why a Pod or its containers cannot start, because of objects that they refer to. */
export interface PodProblems {
  /** Messages of FailedMount Events. */
  readonly volumes: readonly string[];
  /** Errors of environment variables, by container. */
  readonly env: Readonly<Record<string, string>>;
}

/** Nothing keeps the Pod from starting. */
export const NO_PROBLEMS: PodProblems = { volumes: [], env: {} };

/** Looks at the ConfigMaps, Secrets and claims that a Pod needs to start or restart containers now. */
export async function findProblems(
  access: Pick<ObjectAccess, "find" | "list">,
  pod: Pod,
  place: PodPlacement,
): Promise<PodProblems> {
  const statuses = containerStatuses(pod);
  const waiting = podContainers(pod).filter(
    ({ container, name }) => refersToObjects(container) && !isRunning(statuses.get(name)),
  );
  const hasVolumes = (pod.spec?.volumes ?? []).length > 0 && !isMounted(pod);
  if (waiting.length === 0 && !hasVolumes) return NO_PROBLEMS;
  const volumes = hasVolumes ? await volumeProblems(access, pod) : [];
  const env: Record<string, string> = {};
  for (const { container, name } of waiting) {
    const error = await envProblem(access, pod, container, place);
    if (error !== undefined) env[name] = error;
  }
  return { volumes, env };
}

/** The error of the environment variables of a container. */
export const envProblemOf = ({ env }: PodProblems, name: string): string | undefined => getMember(env, name);

function refersToObjects({ env = [], envFrom = [] }: Container): boolean {
  return envFrom.length > 0 || env.some(({ valueFrom }) => valueFrom?.configMapKeyRef ?? valueFrom?.secretKeyRef);
}

async function envProblem(
  access: Pick<ObjectAccess, "find" | "list">,
  pod: Pod,
  container: Container,
  place: PodPlacement,
): Promise<string | undefined> {
  try {
    await containerEnv(access, pod, container, place);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
