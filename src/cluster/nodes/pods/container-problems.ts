import { quote } from "../../../base/go/quote.ts";
import type { PodContainer } from "./containers.ts";
import { imageNameProblem } from "./image-name.ts";
import { envProblemOf } from "./pod-problems.ts";
import type { PodTurn } from "./pod-turn.ts";
import { podText } from "./restarts.ts";

/** When a kubelet tries again to create a container. Upstream: backOffPeriod */
const RETRY_MS = 10_000;

interface Waiting {
  readonly reason: string;
  readonly message: string;
}

/** Containers of one Pod that cannot be created, for other reasons than a failed pull. */
export class ContainerProblems {
  readonly #found = new Map<string, Waiting & { readonly untilMs: number }>();

  /** The waiting state of a container whose image has no valid name. */
  ofImage(turn: PodTurn, one: PodContainer): Waiting | undefined {
    const { image = "" } = one.container;
    const problem = imageNameProblem(image);
    const name = quote(image);
    return this.#refusal(turn, one, "InvalidImageName", () => {
      if (problem === undefined) return undefined;
      const message = `Failed to apply default image tag ${name}: couldn't parse image name ${name}: ${problem}`;
      turn.record("Warning", "InspectFailed", message, one);
      turn.record("Warning", "Failed", "Error: InvalidImageName", one);
      return message;
    });
  }

  /** The waiting state of a container that cannot be configured. `pulled` records that its image is there. */
  ofConfiguration(turn: PodTurn, one: PodContainer, pulled: () => void): Waiting | undefined {
    return this.#refusal(turn, one, "CreateContainerConfigError", () => {
      const message = envProblemOf(turn.problems, one.name) ?? rootProblem(turn, one);
      if (message === undefined) return undefined;
      pulled();
      turn.record("Warning", "Failed", `Error: ${message}`, one);
      return message;
    });
  }

  /** `find` returns the message and records Events. It is called again after a while. */
  #refusal(turn: PodTurn, one: PodContainer, reason: string, find: () => string | undefined): Waiting | undefined {
    const known = this.#found.get(one.name);
    if (known?.reason === reason && turn.nowMs < known.untilMs) {
      turn.wakeAt(known.untilMs);
      return { reason, message: known.message };
    }
    const message = find();
    if (message === undefined) return undefined;
    const untilMs = turn.nowMs + RETRY_MS;
    this.#found.set(one.name, { reason, message, untilMs });
    turn.wakeAt(untilMs);
    return { reason, message };
  }
}

/** Upstream: verifyRunAsNonRoot. The users of images are not known. */
function rootProblem({ pod }: PodTurn, { container, name }: PodContainer): string | undefined {
  const settings = { ...pod.spec?.securityContext, ...container.securityContext };
  if (settings.runAsNonRoot !== true || settings.runAsUser !== 0) return undefined;
  return `container's runAsUser breaks non-root policy (pod: ${quote(podText(pod))}, container: ${name})`;
}
