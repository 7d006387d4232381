/**
 * Campaigns: one content for everybody on a list, each recipient a mail of their own. What must hold: whoever is on the
 * list and not suppressed at the dispatch gets one mail, whatever is killed meanwhile; mails are made in short
 * transactions that move the cursor with them; the counters change with the mails that they count; it is `sent` only
 * when every mail has ended or was handed over.
 */
export {
  broadcastAnswer,
  broadcastsAnswer,
  cancelledBroadcast,
  chosenVariant,
  pausedBroadcast,
  resumedBroadcast,
} from './answers.js'
export {
  type ArchivedCampaign,
  archivedCampaign,
  archivedCampaigns,
  type ForNobody,
  forNobody,
  makeArchivedPreviews,
  makeArchivedSubjects,
} from './archived.js'
export { type AudienceMember, nextOfAudience, reachableNow } from './audience.js'
export { type AudienceNow, audienceNow } from './audience-now.js'
export { audienceUses } from './audience-uses.js'
export { choiceAfterClocks, type OwnTimes, ownTimesOf, type TimeSpan } from './audience-zones.js'
export {
  type Broadcast,
  type BroadcastDeps,
  type BroadcastStatus,
  countBroadcastsOf,
  findAnyBroadcast,
  findBroadcast,
  findBroadcastDetail,
  htmlOf,
  listBroadcasts,
  listBroadcastsOf,
  listPaused,
} from './broadcast.js'
export { type BroadcastChanges, changeDraft } from './change.js'
export { chosenWords, choserOf, hoursWords } from './choice-words.js'
export { chosenDeliveries } from './chosen-deliveries.js'
export { blocksOf, renderFor } from './content.js'
export { type AudienceCount, countAudience } from './count-audience.js'
export { finishCourses } from './course.js'
export {
  type BroadcastInput,
  checkBroadcast,
  createBroadcast,
  judgeContent,
} from './create.js'
export { byHandWords, chooseVariant, waitsForDecision } from './decide.js'
export { dispatchDue, sendDraft } from './dispatch-campaign.js'
export { duplicateBroadcast } from './duplicate.js'
export {
  campaignsDueAt,
  campaignsWait,
  expandBroadcasts,
  hasRoomForCampaigns,
} from './expand.js'
export { followBroadcasts } from './follow.js'
export { draftToPeople, requireRuleOfPeople } from './follow-up.js'
export { filesOf, givenOf } from './given.js'
export { judgeDraft, lookAtDraft } from './judge-draft.js'
export { oddTagsOf } from './known-tags.js'
export { erasedLeftOut, type WhyLeftOut } from './left-out.js'
export { campaignsGot, campaignsSince } from './mailed-lately.js'
export {
  isTooShortForOpens,
  type MeasureDeps,
  opensMeasured,
  opensUnmeasured,
  requireOpensMeasured,
  type Unmeasured,
  unmeasuredOf,
  whyUnmeasured,
} from './measured.js'
export { campaignsBetween, type DatedCampaign } from './month.js'
export { mailTypeOf, makeNotice } from './notice.js'
export { pauseOverdue, pauseRestored } from './overdue.js'
export { beginOf, firstTime, laterSpan } from './own-time.js'
export {
  aheadMs,
  hoursToCome,
  lastLeavesAt,
  leavesFrom,
  leavingTimes,
  mostAnHour,
  opensFrom,
  type Pace,
  paceOf,
  type SendWindow,
} from './pace.js'
export { type AskedByRule, ruleOfPeople } from './people-rule.js'
export { sendTest } from './preview.js'
export {
  alikeVersions,
  alikeWords,
  draftVersions,
  unfinishedVersionsOf,
} from './put-variants.js'
export { reachedWords } from './reached.js'
export { listUndelivered, type Undelivered } from './recipients.js'
export { recipientsAnswer } from './recipients-answer.js'
export { type BroadcastReport, broadcastReport } from './report.js'
export {
  type PeopleAsked,
  pageOfPeople,
  type ReportPerson,
  type VersionPart,
  versionParts,
  type Who,
  whoNames,
} from './report-people.js'
export {
  type BroadcastStanding,
  broadcastStanding,
  publicReason,
  ratesOf,
  recipientCount,
  shownMade,
  waitsForRoom,
} from './shown.js'
export { campaignVersions } from './shown-variants.js'
export { audienceOf } from './standing.js'
export {
  cancelBroadcast,
  cancelRest,
  leftToCancel,
  neverSent,
  pauseBroadcast,
  pausedByAccount,
  resumeBroadcast,
  stopBroadcast,
  takeBack,
  takeBackMs,
} from './stop.js'
export { refillOf } from './up-to-date.js'
export type { VariantTest } from './variant.js'
export { asRecipientsGet, hasRest, refuseSmallTest, testSize, withName } from './variant.js'
export { nameOfPeople, whoWords } from './who-words.js'
export {
  type Audience,
  campaignsTo,
  mostParts,
  ofList,
  stillThere,
  type Whom,
  whomIn,
  whomOf,
} from './whom.js'
export { goneWords } from './whom-gone.js'
