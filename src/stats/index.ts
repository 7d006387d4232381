/**
 * Figures over time: what each account sent and what happened to it, a row for each day, kept longer than the logs
 * that they are made from. What must hold: every row of the logs is counted once; counting holds up nobody; an answer
 * is up to date and reads a bounded number of rows. See README.md.
 */

export { readStats, type Stats, type StatsGroup } from './answer.js'
export { type CampaignDeeds, campaignDeedsOf } from './campaigns/deeds.js'
export { noteMailed } from './campaigns/mailed.js'
export {
  type CampaignFigures,
  readCampaignFigures,
  sumCampaigns,
  urlOfLink,
} from './campaigns/read.js'
export { linkOf } from './campaigns/words.js'
export { noteCampaignTest, otherMarketing } from './other-marketing.js'
export {
  dimensions,
  type FiguresQuestion,
  maxLimit,
  questionOf,
  type StatsInput,
} from './question.js'
export { allRolledUp, rollUp, startRollUp } from './roll-up.js'
export { type Figures, ratio, shownFigures } from './shown.js'
