import { connect } from 'node:net'
import { controlSocket, isSocketPath } from '../app/files.js'
import type { ControlAnswer, ControlQuestion } from '../app/questions.js'
import type { RetriedLanes } from '../deliveries/index.js'
import { wakeNodes } from '../nodes/index.js'
import type { Store } from '../store/index.js'
import { type CommandPlace, databaseOf } from './place.js'

// The appliance answers within milliseconds unless it is stuck; a command must not hang with it.
const usuallyWithinMs = 3_000
/** For an overview: the threads of a busy machine take some time to tell their parts. */
export const overviewMs = 9_000

/**
 * Asks the appliance that serves the data directory; undefined when none answers. 0 ms waits without a
 * limit.
 */
export function askAppliance(
  { dataDir }: CommandPlace,
  question: ControlQuestion,
  withinMs = usuallyWithinMs,
): Promise<ControlAnswer | undefined> {
  const path = controlSocket(dataDir)
  return new Promise((resolve) => {
    if (!isSocketPath(path)) return resolve(undefined)
    const socket = connect(path)
    let text = ''
    socket.setTimeout(withinMs, () => socket.destroy())
    // Nobody listens, or we may not: both end in 'close' without a text.
    socket.on('error', () => {})
    socket.on('connect', () => socket.write(`${JSON.stringify(question)}\n`))
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    socket.on('close', () => resolve(answerIn(text)))
  })
}

/**
 * Tells all nodes that mail of these domains was made due; resolves with whether this machine's appliance heard it. If
 * it did not, the other nodes notice at their next signs of life.
 */
export async function tellRetry(
  place: CommandPlace,
  { byRow }: Pick<Store, 'byRow'>,
  retry: RetriedLanes,
): Promise<boolean> {
  if ((await askAppliance(place, { retry })) !== undefined) return true
  if (databaseOf(place).url !== undefined) await wakeNodes({ byRow }, 'all')
  return false
}

/**
 * Only the appliance, which has the data directory's lock, listens there. A killed appliance may leave half an answer.
 */
function answerIn(text: string): ControlAnswer | undefined {
  try {
    return JSON.parse(text) as ControlAnswer
  } catch {
    return undefined
  }
}
