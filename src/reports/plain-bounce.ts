import { withCommand } from './answered-command.js'
import { bounceForms, delayMarks, finalMarks, successMarks } from './bounce-forms.js'
import { type Cause, causesIn, namesRecipients, reportText } from './causes.js'
import { statusIn } from './classify.js'
import type { Message } from './message.js'
import { ownReply } from './own-reply.js'
import { normal } from './pattern.js'
import type { DsnAction, ReportedRecipient } from './report.js'

export interface PlainBounce {
  form: string
  recipients: ReportedRecipient[]
}

/** A bounce that is written only for people; undefined if nothing shows that it is one. */
export function readPlainBounce(message: Message): PlainBounce | undefined {
  const text = reportText(message)
  const words = normal(text)
  const form = formOf(message, text, words)
  if (form === undefined) return undefined
  const action = actionIn(words)
  const inReply = withCommand(text)
  return {
    form,
    recipients: causesIn(message, text).map(({ address, diagnostic, host }) => ({
      action,
      status: statusIn(ownReply(diagnostic)) ?? statusIn(diagnostic) ?? '',
      diagnostic: inReply(diagnostic),
      remoteMta: host,
      originalRecipient: '',
      finalRecipient: address,
    })),
  }
}

function actionIn(words: string): DsnAction {
  const says = (marks: readonly string[]) => marks.some((mark) => words.includes(mark))
  if (says(successMarks)) return 'delivered'
  return says(delayMarks) && !says(finalMarks) ? 'delayed' : 'failed'
}

/**
 * What the readable part of a report says about one of its recipients, undefined if nothing. With
 * `alone` also if it spells the recipient differently, as no other can be meant.
 */
export function causeFor(message: Message, recipient: string, alone: boolean): Cause | undefined {
  const causes = causesIn(message, reportText(message))
  const own = causes.find(({ address }) => address.toLowerCase() === recipient.toLowerCase())
  return own ?? (alone && causes.length === 1 ? causes[0] : undefined)
}

function formOf(message: Message, text: string, words: string): string | undefined {
  // RFC 8098: a receipt comes from mail systems too, and returns the message.
  if (message.parts.some(({ type }) => type === 'message/disposition-notification'))
    return undefined
  const form = forms.find(({ marks }) => marks.some((mark) => words.includes(mark)))
  if (form !== undefined && form.loose !== true) return form.name
  const subject = message.header('subject')
  const isFailing = failing.test(subject) || failing.test(normal(subject))
  if (form !== undefined && tellsCause(message, text)) return form.name
  if (!isBySystem(message, isFailing)) return undefined
  if (form !== undefined) return form.name
  return isFailing || givesBack(message, text) ? 'other' : undefined
}

const forms = bounceForms.map((form) => ({ ...form, marks: form.marks.map(normal) }))

/**
 * Some providers write their bounces in their own name, from an address that any mail might have. A mail with a
 * bounce's words that names the recipient is one if it comes from the null sender, or quotes a reply.
 */
const tellsCause = (message: Message, text: string): boolean =>
  (message.isFromNobody || quotesReply.test(text)) && namesRecipients(message, text)

const quotesReply = /(?:^|[\s:(])5\d\d[- ](?:#?5\.\d{1,3}\.\d{1,3}|[a-z])/i

/**
 * A mail system that names an address and returns a message says that it could not deliver the
 * message.
 */
const givesBack = (message: Message, text: string) =>
  message.parts.some(({ type }) => type === 'message/rfc822') && namesRecipients(message, text)

function isBySystem({ header, isFromNobody }: Message, isFailing: boolean): boolean {
  const from = header('from')
  if (mailSystem.test(from) || header('x-failed-recipients') !== '') return true
  if (/report-type="?delivery-status/i.test(header('content-type'))) return true
  // RFC 5321 §4.5.5: nobody may answer a report, so it comes from the null sender. People's automatic
  // answers do too, so the subject has to tell a failure.
  return isFailing && (/^(?:<>)?$/.test(from) || isFromNobody)
}

const mailSystem =
  /mailer-?daemon|post_?master|mail(?:er)?[ _](?:delivery|deliver|system|server|service|administrator)|system administrator|mdaemon@|microsoftexchange[0-9a-f]{32}@|delivery (?:subsystem|system|agent)|<>$/i
const failing =
  /undeliver|returned mail|(?:delivery (?:status notification|notification|failure|failed|has failed|problem|error)|error during delivery|error sending your (?:e-?)?mail)|(?:failure|failed|error) (?:notice|notification)|user unknown|mail (?:failure|failed|error|system error|could not be)|could not be delivered|cannot be delivered|unable to deliver|not delivered|return(?:ed|ing)(?: message)? to sender|non[- ]remis|unzustellbar|nicht zugestellt|zustellung fehlgeschlagen|fehler bei der zustellung|zustellungsfehler|echec de (?:la )?(?:remise|distribution|livraison)|(?:message|courriel|mail) non (?:distribue|delivre)|no se (?:puede|pudo|ha podido) entregar|mensaje no entregado|error (?:en la|de) entrega|fallo (?:en la|de) entrega|nao (?:entregue|foi possivel entregar)|falha (?:na|de) entrega|mancata consegna|mancato recapito|impossibile (?:consegnare|recapitare)|non (?:recapitat|consegnat)|onbestelbaar|niet bezorgd|bezorging mislukt|kan niet worden bezorgd|niedostarczon|nie dostarczono|nie mozna dostarczyc|не ?доставлен|не удалось доставить|ошибка доставки|无法投递|无法送达|投递失败|無法傳遞|無法送達|teslim edilemedi|iletilemedi|kunde inte levereras|kunne ikke leveres|not deliverable|non-?delivery (?:report|notification)|email bounce|bounce notification|mail bounce|nondeliverable|メールエラー|エラー通知|配信不能|配信できません|送信できません|宛先不明|退信|投递失败/i
