import type { SentenceVerdict } from '../../src/domain/checked-sentence.ts';
import type { RetrievedChunk } from '../../src/domain/retrieved-chunk.ts';

export type PairKind =
  | 'verbatim'
  | 'paraphrase'
  | 'wrong number'
  | 'wrong entity'
  | 'other subject'
  | 'negated'
  | 'unrelated'
  | 'half true';

export interface LabelledPair {
  kind: PairKind;
  claim: string;
  chunk: keyof typeof CHUNKS;
  /** The verdicts that a careful reader would accept. */
  accepts: SentenceVerdict[];
}

export const CHUNKS = {
  qos: {
    title: 'Quality of Service',
    headings: ['Quality of Service', 'Reliability'],
    text: `Reliability is the policy that decides whether the middleware tries again when a message is lost. \`RELIABLE\` sends missing messages again until they are acknowledged or leave the history. \`BEST_EFFORT\` sends each message once and accepts loss. Best effort suits high-rate sensor data, for which a newer message makes a lost one worthless. Reliable suits commands, maps and events.

\`RELIABLE\` does not promise that every message reaches the callback. With \`KEEP_LAST\`, a slow subscriber still loses the oldest messages when its queue is full.`,
  },
  history: {
    title: 'Quality of Service',
    headings: ['Quality of Service', 'History and depth'],
    text: `History is the policy that decides how many messages are stored in the queue. \`KEEP_LAST\` stores the last \`depth\` messages, and \`KEEP_ALL\` stores all messages up to the resource limits of the middleware. A depth of 1 delivers only the newest message, which suits controllers that must not act on old data. A subscriber that receives 30 messages per second and stalls for one second loses 20 of them with a depth of 10.`,
  },
  timing: {
    title: 'Quality of Service',
    headings: ['Quality of Service', 'Deadline, lifespan and liveliness'],
    text: `Deadline, lifespan and liveliness are policies that express timing expectations, and all three are unlimited by default.

- **Deadline** is the longest expected time between two messages. A missed deadline raises an event on both sides, and no message is lost or sent again.
- **Lifespan** is the age after which a message is discarded without being delivered.
- **Liveliness** states how a publisher shows that it is alive. \`AUTOMATIC\` lets the middleware signal it, and \`MANUAL_BY_TOPIC\` requires the publisher to publish or to assert its liveliness within the lease duration.`,
  },
  isaac: {
    title: 'Isaac Sim Overview',
    headings: ['Isaac Sim Overview'],
    text: `NVIDIA Isaac Sim is a robot simulator built on the Omniverse platform that combines GPU-accelerated physics with ray-traced sensor rendering. It is used to test robot software, to generate labelled images and to train policies. Companion tools covered in this module are Omniverse Replicator for synthetic data, Isaac ROS for accelerated perception, and Isaac Lab for robot learning.

OpenUSD (Universal Scene Description) is the scene format that Isaac Sim uses for robots, environments and materials. It was created at Pixar, and the file extensions are \`.usd\`, \`.usda\` (text), \`.usdc\` (binary) and \`.usdz\` (archive).`,
  },
  services: {
    title: 'Services and actions',
    headings: ['Services', 'Calling a service'],
    text: `A service client sends a request to the server and waits for one response. The server handles one request at a time by default. Calling \`client.call()\` inside a callback blocks the executor and causes a deadlock; use \`call_async\` instead. The default timeout of \`wait_for_service\` is 1.0 seconds. About 75% of the examples use version 2.4.1 of the package.`,
  },
  nav2: {
    title: 'Isaac ROS and Navigation',
    headings: ['Nav2'],
    text: `Nav2 is the navigation framework of ROS 2. It plans a path on a costmap, follows it with a controller and recovers when the robot is stuck. The planner server computes a global path, and the controller server produces velocity commands on \`/cmd_vel\`. The default controller frequency is 20 Hz. Behavior trees in XML files define how planning, control and recovery are combined. AMCL localizes the robot in a known map with a particle filter, and SLAM Toolbox builds the map.`,
  },
  refunds: {
    title: 'Refund policy',
    headings: ['Refunds', 'Timing'],
    text: `Customers may return a product within 30 days of delivery for a full refund. Items bought on sale can be exchanged but not refunded. Shipping costs of $4.99 are deducted unless the item was faulty. Refunds are paid to the original payment method within 5 to 7 business days. Gift cards cannot be returned. Contact support@shop.test before sending anything back.`,
  },
  light: {
    title: 'Photosynthesis',
    headings: ['Light reactions'],
    text: `Light-dependent reactions take place in the thylakoid membranes of chloroplasts. Chlorophyll absorbs mostly blue and red light and reflects green light. Water is split into oxygen, protons and electrons. The energy is stored in ATP and NADPH, which the Calvin cycle uses to fix carbon dioxide. In C4 plants such as maize, carbon dioxide is first fixed into a four-carbon compound. Melvin Calvin received the Nobel Prize in Chemistry in 1961.`,
  },
  docker: {
    title: 'Volumes',
    headings: ['Storage', 'Volumes'],
    text: `Volumes are the preferred way to keep data that containers create. Docker manages them itself, whereas bind mounts depend on the directory structure of the host. A volume survives when its container is removed. Use \`docker volume prune\` to delete volumes that no container uses. On Linux, volumes are stored below \`/var/lib/docker/volumes\`. Since release 23.0, prune removes only anonymous volumes unless \`--all\` is given.`,
  },
  bread: {
    title: 'Sourdough',
    headings: ['Baking'],
    text: `Mix 500 g of flour with 350 g of water and let the dough rest for 30 minutes. Add 100 g of starter and 10 g of salt. Fold the dough four times during the first two hours. Proof it overnight in the fridge at 4 degrees, because cold slows the yeast more than the bacteria. Bake at 250 degrees for 20 minutes with steam, then at 220 degrees for 25 minutes without it. The crust stays crisp if the loaf cools on a rack.`,
  },
} satisfies Record<string, Pick<RetrievedChunk, 'text' | 'title' | 'headings'>>;

const notSupported: SentenceVerdict[] = ['unsupported'];

function pairs(
  kind: PairKind,
  accepts: SentenceVerdict[],
  list: [keyof typeof CHUNKS, string][],
): LabelledPair[] {
  return list.map(([chunk, claim]) => ({ kind, claim, chunk, accepts }));
}

export const LABELLED_PAIRS: LabelledPair[] = [
  ...pairs(
    'verbatim',
    ['quoted'],
    [
      ['qos', '`BEST_EFFORT` sends each message once and accepts loss.'],
      ['qos', 'RELIABLE does not promise that every message reaches the callback.'],
      [
        'history',
        'A depth of 1 delivers only the newest message, which suits controllers that must not act on old data.',
      ],
      ['timing', 'Lifespan is the age after which a message is discarded without being delivered.'],
      [
        'isaac',
        'It was created at Pixar, and the file extensions are .usd, .usda (text), .usdc (binary) and .usdz (archive).',
      ],
      ['services', 'The server handles one request at a time by default.'],
    ],
  ),
  ...pairs(
    'paraphrase',
    ['supported'],
    [
      ['qos', 'With `BEST_EFFORT`, each message is sent once and loss is accepted.'],
      ['qos', 'Best effort is suited to high-rate sensor data.'],
      ['qos', '`RELIABLE` sends lost messages again until they are acknowledged.'],
      ['qos', 'A slow subscriber can still lose the oldest messages when its queue is full.'],
      ['history', 'The `KEEP_LAST` policy stores the last `depth` messages in the queue.'],
      ['history', 'With a depth of 1, only the newest message is delivered.'],
      [
        'history',
        'A subscriber with a depth of 10 that receives 30 messages per second loses 20 of them if it stalls for one second.',
      ],
      ['timing', 'The lifespan is the age after which messages are discarded and not delivered.'],
      ['timing', 'When a deadline is missed, an event is raised on both sides.'],
      ['isaac', 'Isaac Sim is a robot simulator that is built on the Omniverse platform.'],
      [
        'isaac',
        'Isaac Sim can be used for testing robot software, generating labelled images and training policies.',
      ],
      ['isaac', 'OpenUSD was created at Pixar.'],
      ['services', 'A client sends a request and waits for the response of the server.'],
      [
        'services',
        'Use `call_async` instead of `client.call()` inside a callback, which blocks the executor.',
      ],
      ['services', 'The default timeout for `wait_for_service` is one second.'],
      ['services', 'Roughly 75 percent of the examples use version 2.4.1.'],
    ],
  ),
  ...pairs('wrong number', notSupported, [
    ['history', 'A depth of 2 delivers only the newest message.'],
    ['history', 'A subscriber that receives 60 messages per second loses 20 of them with a depth of 10.'],
    ['services', 'The default timeout of `wait_for_service` is 1.5 seconds.'],
    ['services', 'The default timeout of `wait_for_service` is 1.0 minutes.'],
    ['services', 'About 57% of the examples use version 2.4.1 of the package.'],
    ['services', 'About 75% of the examples use version 2.4.2 of the package.'],
    ['timing', 'All four policies are unlimited by default.'],
  ]),
  ...pairs('wrong entity', notSupported, [
    ['isaac', 'OpenUSD was created at Disney.'],
    ['isaac', 'Isaac Sim is a robot simulator built on the Unity platform.'],
    ['qos', '`TRANSIENT_LOCAL` sends each message once and accepts loss.'],
    ['services', 'Calling `client.spin()` inside a callback blocks the executor.'],
    ['isaac', 'Gazebo is a robot simulator built on the Omniverse platform.'],
  ]),
  ...pairs('other subject', notSupported, [
    ['timing', 'Deadline is the age after which a message is discarded without being delivered.'],
    ['timing', 'Lifespan is the longest expected time between two messages.'],
    ['qos', '`BEST_EFFORT` sends missing messages again until they are acknowledged.'],
  ]),
  ...pairs('negated', notSupported, [
    ['qos', '`RELIABLE` promises that every message reaches the callback.'],
    ['qos', 'Best effort does not suit high-rate sensor data.'],
    ['history', 'A depth of 1 suits controllers that must act on old data.'],
    ['timing', 'A message is lost when a deadline is missed.'],
    ['isaac', 'Isaac Sim is not built on the Omniverse platform.'],
    ['services', 'The server never handles one request at a time by default.'],
    ['qos', 'A slow subscriber loses the newest messages when its queue is full.'],
    ['timing', 'A missed deadline never raises an event on both sides.'],
  ]),
  ...pairs(
    'unrelated',
    ['unsupported'],
    [
      ['qos', 'The weather in the mountains changes quickly in spring.'],
      ['isaac', 'Transformers predict the next token from the tokens before it.'],
      ['services', 'A launch file starts several nodes with one command.'],
      ['history', 'Photosynthesis turns light into chemical energy.'],
      ['timing', 'The gripper closes around the object with constant force.'],
    ],
  ),
  ...pairs('half true', notSupported, [
    ['isaac', 'OpenUSD was created at Pixar and is written in Rust.'],
    ['qos', 'Best effort suits sensor data and encrypts every packet with a shared secret key.'],
    ['services', 'The server handles one request at a time and restarts automatically after a crash.'],
    [
      'history',
      'A depth of 1 delivers only the newest message and halves the processor load of the machine.',
    ],
    ['timing', 'A missed deadline raises an event and shuts down the publisher until it is restarted.'],
    ['isaac', 'Isaac Sim trains policies and deploys them to warehouse fleets over the network.'],
  ]),
];

export interface SimplePair {
  claim: string;
  chunk: keyof typeof CHUNKS;
  supported: boolean;
}

/** The first rules judged 29 of these 37 right; later rules were adjusted on them. */
export const SECOND_PAIRS: SimplePair[] = [
  {
    chunk: 'nav2',
    supported: true,
    claim: 'Nav2 plans a path on a costmap and follows it with a controller.',
  },
  {
    chunk: 'nav2',
    supported: true,
    claim: 'The controller server publishes velocity commands on `/cmd_vel` at a default frequency of 20 Hz.',
  },
  {
    chunk: 'nav2',
    supported: true,
    claim: 'In Nav2, behavior trees defined in XML files combine planning, control and recovery.',
  },
  {
    chunk: 'nav2',
    supported: true,
    claim: 'AMCL uses a particle filter to localize the robot in a known map.',
  },
  { chunk: 'nav2', supported: true, claim: 'To build the map, SLAM Toolbox is used.' },
  {
    chunk: 'nav2',
    supported: false,
    claim: 'SLAM Toolbox localizes the robot in a known map with a particle filter.',
  },
  { chunk: 'nav2', supported: false, claim: 'The default controller frequency is 50 Hz.' },
  { chunk: 'nav2', supported: false, claim: 'The planner server produces velocity commands on `/cmd_vel`.' },
  { chunk: 'nav2', supported: false, claim: 'AMCL builds the map with a Kalman filter.' },
  { chunk: 'nav2', supported: false, claim: 'The controller server computes a global path.' },
  { chunk: 'nav2', supported: false, claim: 'Nav2 is the manipulation framework of ROS 1.' },
  {
    chunk: 'refunds',
    supported: true,
    claim: 'You can return a product within 30 days of delivery and get a full refund.',
  },
  { chunk: 'refunds', supported: true, claim: 'Sale items can be exchanged but are not refunded.' },
  { chunk: 'refunds', supported: true, claim: 'Sale items cannot be refunded, only exchanged.' },
  {
    chunk: 'refunds',
    supported: true,
    claim: 'Refunds go to the original payment method within 5 to 7 business days.',
  },
  { chunk: 'refunds', supported: true, claim: "Gift cards can't be returned." },
  {
    chunk: 'refunds',
    supported: true,
    claim: 'Shipping costs of $4.99 are deducted, except when the item was faulty.',
  },
  { chunk: 'refunds', supported: false, claim: 'Gift cards can be returned.' },
  { chunk: 'refunds', supported: false, claim: 'Items bought on sale can be refunded.' },
  {
    chunk: 'refunds',
    supported: false,
    claim: 'Products may be returned within 60 days of delivery for a full refund.',
  },
  {
    chunk: 'refunds',
    supported: false,
    claim: 'Refunds are paid in store credit within 5 to 7 business days.',
  },
  { chunk: 'refunds', supported: false, claim: 'Items bought on sale cannot be exchanged.' },
  {
    chunk: 'refunds',
    supported: false,
    claim: 'Customers must return a product within 7 days of delivery for a full refund.',
  },
  { chunk: 'refunds', supported: false, claim: 'Shipping costs are always refunded.' },
  {
    chunk: 'light',
    supported: true,
    claim: 'The light-dependent reactions happen in the thylakoid membranes of chloroplasts.',
  },
  { chunk: 'light', supported: true, claim: 'Chlorophyll mostly absorbs red and blue light.' },
  {
    chunk: 'light',
    supported: true,
    claim: 'ATP and NADPH store the energy, which is used by the Calvin cycle to fix carbon dioxide.',
  },
  { chunk: 'light', supported: true, claim: 'Calvin received the Nobel Prize in Chemistry in 1961.' },
  {
    chunk: 'light',
    supported: true,
    claim: 'Water is split into oxygen, protons, and electrons during the light reactions.',
  },
  {
    chunk: 'light',
    supported: false,
    claim: 'Chlorophyll absorbs green light and reflects blue and red light.',
  },
  { chunk: 'light', supported: false, claim: 'Melvin Calvin received the Nobel Prize in Physics in 1961.' },
  { chunk: 'light', supported: false, claim: 'Oxygen is split into water, protons and electrons.' },
  {
    chunk: 'light',
    supported: false,
    claim: 'In C4 plants such as rice, carbon dioxide is first fixed into a four-carbon compound.',
  },
  {
    chunk: 'light',
    supported: false,
    claim: 'In C4 plants such as maize, carbon dioxide is first fixed into a three-carbon compound.',
  },
  { chunk: 'light', supported: false, claim: 'Chlorophyll does not reflect green light.' },
  { chunk: 'light', supported: false, claim: 'The document says "chlorophyll absorbs only blue light".' },
  {
    chunk: 'light',
    supported: true,
    claim: 'The page says that chlorophyll “absorbs mostly blue and red light”.',
  },
];

/**
 * Hard pairs, written after the rules were adjusted on the second pairs. The rules of that time judged 15 of these 26
 * right.
 */
export const THIRD_PAIRS: SimplePair[] = [
  {
    chunk: 'docker',
    supported: true,
    claim: 'Docker recommends volumes for keeping the data that containers create.',
  },
  { chunk: 'docker', supported: true, claim: 'When a container is removed, its volume survives.' },
  {
    chunk: 'docker',
    supported: true,
    claim: 'You can run `docker volume prune` to delete volumes which are not used by any container.',
  },
  { chunk: 'docker', supported: true, claim: 'On Linux you find volumes under `/var/lib/docker/volumes`.' },
  {
    chunk: 'docker',
    supported: true,
    claim: 'Bind mounts depend on the host directory structure, while volumes are managed by Docker.',
  },
  {
    chunk: 'docker',
    supported: true,
    claim: 'From release 23.0 on, only anonymous volumes are pruned unless you pass `--all`.',
  },
  { chunk: 'docker', supported: false, claim: 'A volume is deleted when its container is removed.' },
  {
    chunk: 'docker',
    supported: false,
    claim: 'Bind mounts are the preferred way to keep data that containers create.',
  },
  { chunk: 'docker', supported: false, claim: 'Volumes depend on the directory structure of the host.' },
  { chunk: 'docker', supported: false, claim: 'Since release 20.0, prune removes only anonymous volumes.' },
  {
    chunk: 'docker',
    supported: false,
    claim: 'Use `docker volume rm` to delete volumes that no container uses.',
  },
  {
    chunk: 'docker',
    supported: false,
    claim: 'On Windows, volumes are stored below `/var/lib/docker/volumes`.',
  },
  { chunk: 'docker', supported: false, claim: 'A volume does not survive when its container is removed.' },
  { chunk: 'docker', supported: false, claim: 'Prune removes named volumes unless `--all` is given.' },
  {
    chunk: 'bread',
    supported: true,
    claim: 'Let the dough rest for 30 minutes after mixing 500 g of flour with 350 g of water.',
  },
  { chunk: 'bread', supported: true, claim: 'The dough is folded four times in the first two hours.' },
  { chunk: 'bread', supported: true, claim: 'Proofing takes place overnight in the fridge at 4 degrees.' },
  { chunk: 'bread', supported: true, claim: 'If the loaf cools on a rack, the crust stays crisp.' },
  { chunk: 'bread', supported: true, claim: 'First bake with steam at 250 degrees for 20 minutes.' },
  { chunk: 'bread', supported: false, claim: 'Bake at 220 degrees for 20 minutes with steam.' },
  { chunk: 'bread', supported: false, claim: 'Fold the dough six times during the first two hours.' },
  { chunk: 'bread', supported: false, claim: 'Cold slows the bacteria more than the yeast.' },
  { chunk: 'bread', supported: false, claim: 'Add 10 g of starter and 100 g of salt.' },
  { chunk: 'bread', supported: false, claim: 'Proof the dough overnight in a warm oven.' },
  { chunk: 'bread', supported: false, claim: 'The crust stays soft if the loaf cools on a rack.' },
  { chunk: 'bread', supported: false, claim: 'Butter and sugar make the crumb tender.' },
];
