import { isDeepStrictEqual } from "node:util";
import type { Node } from "../../../kinds/types/node.ts";
import type { PodStatus } from "../../../kinds/types/pod-status.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { unlessCode } from "../../controllers/shared/controller.ts";
import { type Index, type Informer, keyOf } from "../../controllers/shared/informer.ts";
import type { Queue } from "../../controllers/shared/loop.ts";
import { hasFinished, nodeNameOf } from "../../controllers/shared/pods.ts";
import type { ContainerBehaviour, ContainerProcess } from "../behaviour/behaviour.ts";
import { type PodRejection, podRejection } from "../node-admission.ts";
import type { NodeManager } from "../node-manager.ts";
import { type Shortage, shortageOf } from "../node-resources.ts";
import type { NodesContext, RunningPods } from "../nodes-context.ts";
import type { SimulatedNode } from "../simulated-node.ts";
import type { Stage } from "../stages/stage.ts";
import type { StageBook } from "../stages/stage-book.ts";
import { podFunctions, stageFunctions } from "../stages/stage-functions.ts";
import type { StagePlayer, StageSubject } from "../stages/stage-player.ts";
import type { ContainerRunner } from "./container-runner.ts";
import { containerStatuses, isRunning, podContainers } from "./containers.ts";
import { findProblems } from "./pod-problems.ts";
import type { RecordPodEvent } from "./pod-turn.ts";
import { type PodPlace, PodWorker } from "./pod-worker.ts";

/** How long a Pod waits for an address if the range of its node is used up. */
const ADDRESS_RETRY_MS = 10_000;

interface Running {
  readonly worker: PodWorker;
  readonly node: SimulatedNode;
}

/** Runs the Pods of all simulated nodes. */
export class PodManager implements RunningPods {
  readonly #context: NodesContext;
  readonly #nodes: NodeManager;
  readonly #informer: Informer<Pod>;
  readonly #byNode: Index<Pod>;
  readonly #stages: () => readonly Stage[];
  readonly #player: StagePlayer;
  readonly #running = new Map<string, Running>();

  /** While there are Stages of Pods, they drive all Pods without functions. */
  constructor(context: NodesContext, nodes: NodeManager, stages: StageBook, player: StagePlayer) {
    this.#context = context;
    this.#nodes = nodes;
    this.#informer = context.informers.of<Pod>("", "pods").informer;
    this.#byNode = this.#informer.index(nodeNameOf);
    this.#stages = () => stages.of("v1/Pod");
    this.#player = player;
  }

  isSimulated({ spec }: Pod): boolean {
    return this.#nodes.get(spec?.nodeName) !== undefined;
  }

  isReachable({ spec }: Pod): boolean {
    return this.#context.connections.isConnected(spec?.nodeName ?? "");
  }

  process(pod: Pod, container: string): ContainerProcess | undefined {
    return this.#runner(pod)?.process(container);
  }

  previousProcess(pod: Pod, container: string): ContainerProcess | undefined {
    return this.#runner(pod)?.previousProcess(container);
  }

  close(): void {
    for (const key of [...this.#running.keys()]) this.#forget(key);
  }

  /** Brings a Pod closer to its spec. */
  async sync(key: string, queue: Queue): Promise<void> {
    const pod = this.#informer.get(key);
    const before = this.#running.get(key);
    if (before && before.worker.uid !== pod?.metadata.uid) this.#forget(key);
    const node = this.#nodes.get(pod?.spec?.nodeName);
    // A node that is cut off learns of the Pod later.
    if (pod === undefined || node === undefined || !this.#isConnected(node)) return;
    if (this.#hasStages(pod)) return this.#playStages(key, node, pod, queue);
    if (isDone(pod)) return this.#finish(key);
    const rejection = this.#running.has(key) || isAdmitted(pod) ? undefined : this.#rejection(node, pod);
    if (rejection) return this.#reject(node, pod, rejection);
    const place = this.#place(node, pod);
    if (place === undefined) return this.#lacksAddress(node, pod, queue);
    await this.#step(this.#start(key, node, pod, queue), node, pod, place, queue);
  }

  #isConnected({ name }: SimulatedNode): boolean {
    return this.#context.connections.isConnected(name);
  }

  #hasStages(pod: Pod): boolean {
    const { behaviour } = this.#context;
    return this.#stages().length > 0 && !podContainers(pod).some(({ container }) => behaviour.hasFunction(container));
  }

  async #playStages(key: string, node: SimulatedNode, pod: Pod, queue: Queue): Promise<void> {
    const place = this.#place(node, pod);
    if (place === undefined) return this.#lacksAddress(node, pod, queue);
    this.#start(key, node, pod, queue);
    const dueMs = await this.#player.play(this.#stages(), this.#subject(node, pod, place));
    if (dueMs !== undefined) queue.addAfter(key, dueMs - this.#context.resources.clock.now());
  }

  #subject({ client, recorder }: SimulatedNode, object: Pod, place: PodPlace): StageSubject {
    const { resource } = this.#informer;
    const functions = (nowMs: number, startMs: number) => ({
      ...stageFunctions(nowMs, startMs),
      ...podFunctions(place),
    });
    return { object, resource, recorder, functions, statusClient: client, deletionClient: client };
  }

  #runner(pod: Pod): ContainerRunner | undefined {
    const known = this.#running.get(keyOf(pod))?.worker;
    return known?.uid === pod.metadata.uid ? known?.runner : undefined;
  }

  #start(key: string, node: SimulatedNode, pod: Pod, queue: Queue): PodWorker {
    const known = this.#running.get(key);
    if (known) return known.worker;
    const changed = () => queue.add(key);
    const worker = new PodWorker(pod, this.#behaviour, (about) => this.#recorder(node, about), changed);
    this.#running.set(key, { worker, node });
    return worker;
  }

  get #behaviour(): ContainerBehaviour {
    return this.#context.behaviour;
  }

  async #step(worker: PodWorker, node: SimulatedNode, pod: Pod, place: PodPlace, queue: Queue): Promise<void> {
    const { clock, access } = this.#context.resources;
    const problems = await findProblems(access, pod, place);
    const nowMs = clock.now();
    const { status, dueMs, isStopped } = worker.step(pod, place, problems, nowMs);
    if (dueMs !== undefined) queue.addAfter(keyOf(pod), dueMs - nowMs);
    if (!isDeepStrictEqual(status, pod.status)) await this.#write(node, pod, status);
    if (isStopped) await this.#remove(node, pod);
  }

  /** A conflict means that the informer is about to show a change, which leads to another sync. */
  async #write(node: SimulatedNode, pod: Pod, status: PodStatus): Promise<void> {
    const next = { ...pod, status };
    const written = await node.client
      .update(this.#informer.resource, next, { subresource: "status" })
      .catch(unlessCode(404, 409));
    await this.#informer.sees(written?.metadata.resourceVersion);
  }

  /** Ends the deletion of a Pod whose containers have stopped. Its finalizers may still keep it. */
  async #remove(node: SimulatedNode, pod: Pod): Promise<void> {
    const { namespace = "", name = "", uid, deletionGracePeriodSeconds } = pod.metadata;
    if (deletionGracePeriodSeconds === 0) return;
    const options = { gracePeriodSeconds: 0, preconditions: { uid } };
    await node.client.delete(this.#informer.resource, { namespace, name }, options).catch(unlessCode(404, 409));
  }

  #recorder(node: SimulatedNode, pod: Pod): RecordPodEvent {
    return (type, reason, message, container) =>
      this.#isConnected(node) &&
      node.recorder.record(this.#informer.resource, pod, type, reason, message, container?.fieldPath);
  }

  #place(node: SimulatedNode, { metadata, spec, status }: Pod): PodPlace | undefined {
    const { address: hostIP, podAddresses } = node;
    const shortage = (pod: Pod) => this.#shortage(node, pod);
    if (spec?.hostNetwork) return { hostIP, podIPs: [hostIP], shortage };
    const known = (status?.podIPs ?? []).flatMap(({ ip }) => ip ?? []);
    const podIPs = podAddresses?.of(metadata.uid ?? "", known);
    return podIPs && { hostIP, podIPs, shortage };
  }

  #lacksAddress(node: SimulatedNode, pod: Pod, queue: Queue): void {
    if (node.podAddresses === undefined) return;
    const message = "Failed to create pod sandbox: no IP addresses available in the range of the node";
    this.#recorder(node, pod)("Warning", "FailedCreatePodSandBox", message);
    queue.addAfter(keyOf(pod), ADDRESS_RETRY_MS);
  }

  /** What the node lacks for a Pod besides the Pods that it has admitted. */
  #shortage(node: SimulatedNode, pod: Pod): Shortage | undefined {
    const object = this.#nodeObject(node);
    return object && shortageOf(object, pod, this.#others(node, pod));
  }

  #rejection(node: SimulatedNode, pod: Pod): PodRejection | undefined {
    const object = this.#nodeObject(node);
    return object && podRejection(object, pod, this.#others(node, pod));
  }

  #nodeObject({ name }: SimulatedNode): Node | undefined {
    return this.#context.informers.of<Node>("", "nodes").informer.get(name);
  }

  /** The other Pods that the node has admitted. */
  #others({ name }: SimulatedNode, pod: Pod): Pod[] {
    const isOther = (other: Pod) =>
      other.metadata.uid !== pod.metadata.uid &&
      !hasFinished(other) &&
      (isAdmitted(other) || this.#running.has(keyOf(other)));
    return [...this.#byNode.get(name)].filter(isOther);
  }

  /** Upstream: rejectPod */
  async #reject(node: SimulatedNode, pod: Pod, { reason, message }: PodRejection): Promise<void> {
    this.#recorder(node, pod)("Warning", reason, message);
    await this.#write(node, pod, { ...pod.status, phase: "Failed", reason, message: `Pod was rejected: ${message}` });
  }

  /** The logs of a Pod that has ended stay until it is deleted. */
  #finish(key: string): void {
    const known = this.#running.get(key);
    known?.node.podAddresses?.release(known.worker.uid);
  }

  #forget(key: string): void {
    const known = this.#running.get(key);
    if (known === undefined) return;
    known.worker.close();
    this.#player.forget(key);
    known.node.podAddresses?.release(known.worker.uid);
    this.#running.delete(key);
  }
}

/** Whether a node has accepted a Pod, perhaps before this server started. */
const isAdmitted = ({ status, metadata }: Pod) =>
  status?.startTime !== undefined || metadata.deletionTimestamp !== undefined;

/** Whether nothing is left to do for a Pod: it has finished and is not being deleted. */
function isDone(pod: Pod): boolean {
  if (!hasFinished(pod)) return false;
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  const isLeft = deletionTimestamp === undefined || deletionGracePeriodSeconds === 0;
  return isLeft && ![...containerStatuses(pod).values()].some(isRunning);
}
