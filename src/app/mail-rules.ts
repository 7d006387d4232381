import type { Log } from '../log/index.js'
import { loadShaping, type ShapingData } from '../outbound/index.js'
import {
  type BounceRules,
  type FeedbackLoop,
  loadBounceRules,
  loadFeedbackLoops,
} from '../reports/index.js'
import { bounceRuleFiles, feedbackLoopFiles, readAgain, shapingFiles } from './files.js'

/** What the operator's files say about how mail goes out, and about what comes back. */
export interface MailRules {
  shaping: ShapingData
  bounceRules: BounceRules
  feedbackLoops: readonly FeedbackLoop[]
}

/**
 * The main thread reads the files and hands over what it has read: a thread that starts while a file is edited gets
 * what was good last. Throws an `OperatorError` for a file that is bad at the start; a file that becomes bad later
 * changes nothing, and the log tells of it.
 */
export function openMailRules({ dataDir, log }: { dataDir: string; log: Log }) {
  const readShaping = () => loadShaping(shapingFiles(dataDir))
  const readRules = () => loadBounceRules(bounceRuleFiles(dataDir))
  const readLoops = () => loadFeedbackLoops(feedbackLoopFiles(dataDir))
  const rules: MailRules = {
    shaping: readShaping(),
    bounceRules: readRules(),
    feedbackLoops: readLoops(),
  }
  return {
    mailRules: (): MailRules => rules,
    reload() {
      readAgain(log, readShaping, (shaping) => Object.assign(rules, { shaping }))
      readAgain(log, readRules, (bounceRules) => Object.assign(rules, { bounceRules }))
      readAgain(log, readLoops, (feedbackLoops) => Object.assign(rules, { feedbackLoops }))
    },
  }
}
