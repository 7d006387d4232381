/**
 * Topics: what kinds of marketing mail an account sends, and who does not want which. Everybody
 * gets every topic until they leave it, so only opt-outs are recorded. What must hold: names are
 * unique within an account whatever their case, also beside archived ones; an opt-out is by address
 * and outlives both the contact and the topic.
 */
export { createdTopic, topicsAnswer } from './answers.js'
export {
  getsSomeTopic,
  type LeftTopic,
  listOptOuts,
  type OptOut,
  optedOutAmong,
  optIn,
  optOut,
  optOutsOf,
  topicsLeftBy,
} from './opt-out.js'
export {
  createTopic,
  findAnyTopic,
  findTopic,
  listTopics,
  moveTopic,
  type Topic,
  topicName,
  topicsAmong,
  updateTopic,
} from './topic.js'
