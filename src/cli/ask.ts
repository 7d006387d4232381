import { connect } from 'node:net'
import type { ControlAnswer, ControlQuestion } from '../app/control.js'
import { controlSocket, isSocketPath } from '../app/files.js'
import type { CommandPlace } from './place.js'

// The appliance answers within milliseconds, or it is stuck: a command is not to hang with it.
const usuallyWithinMs = 3_000
/** For an overview, of which a busy machine's threads take some time to tell their parts. */
export const overviewMs = 9_000

/** Asks the appliance that serves the data directory; undefined when none answers, 0 ms being any time. */
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

/** Only the appliance, which has the data directory's lock, listens there; one that is killed leaves half an answer. */
function answerIn(text: string): ControlAnswer | undefined {
  try {
    return JSON.parse(text) as ControlAnswer
  } catch {
    return undefined
  }
}
