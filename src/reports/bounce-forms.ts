/** How a program that writes its bounces for people begins them. */
export interface BounceForm {
  name: string
  /** One of them stands in the text, in lower case with single spaces. */
  marks: readonly string[]
  /** Anybody might write that: it counts only in mail that comes from a mail system. */
  loose?: true
}

/** Only then is a mail without a delivery-status part a bounce: anybody may write `550`. */
export const bounceForms: readonly BounceForm[] = [
  {
    name: 'qmail',
    marks: [
      'this is the qmail-send program at',
      'this is the machine generated message from mail service',
    ],
  },
  {
    name: 'Yahoo',
    marks: [
      'unable to deliver message to the following address',
      'sorry, we were unable to deliver your message to the following address',
      'message from yahoo.',
      "i'm afraid i wasn't able to deliver the following message",
    ],
  },
  {
    name: 'Exim',
    marks: [
      'this message was created automatically by mail delivery software',
      'a message that you sent could not be delivered to one or more of its recipients',
      'a message that you sent has not yet been delivered to one or more of its recipients',
    ],
  },
  {
    name: 'Postfix',
    marks: [
      'this is the mail system at host',
      'this is the postfix program at host',
      'this is the postfix mail system',
    ],
  },
  {
    name: 'Sendmail',
    marks: [
      'the following addresses had permanent fatal errors',
      'the following addresses had transient non-fatal errors',
      'the following addresses had fatal errors',
      '----- transcript of session follows -----',
    ],
  },
  {
    name: 'Exchange',
    marks: [
      'delivery has failed to these recipients',
      'delivery is delayed to these recipients',
      'did not reach the following recipient(s)',
      'your message did not reach some or all of the intended recipients',
      'diagnostic information for administrators',
      "couldn't be delivered. remote server returned",
    ],
  },
  {
    name: 'Gmail',
    marks: [
      'delivery to the following recipient failed permanently',
      'delivery to the following recipients failed permanently',
      'delivery to the following recipient has been delayed',
      'delivery to the following recipients has been delayed',
      '** address not found **',
      '** message blocked **',
      '** recipient inbox full **',
      '** message not delivered **',
      '** delivery incomplete **',
      '** message too large **',
    ],
  },
  {
    name: 'Outlook.com',
    marks: [
      'this is an automatically generated delivery status notification',
      'delivery to the following recipients failed',
    ],
  },
  {
    name: 'Courier',
    marks: [
      'undeliverable mail your message to the following recipients cannot be delivered',
      'running the courier mail server',
    ],
  },
  { name: 'DragonFly', marks: ['this is the dragonfly mail agent'] },
  { name: 'Smail', marks: ['- message log follows: -', '- failed addresses follow: -'] },
  { name: 'm-FILTER', marks: ['-------server message'] },
  {
    name: 'KDDI',
    marks: ['was rejected by a remote mail server', 'your mail sent on:', 'メールのあて先が不明'],
  },
  {
    name: 'Messaging Server',
    marks: [
      'your message cannot be delivered to the following recipients',
      'your message is being returned; it has been enqueued and undeliverable',
    ],
  },
  {
    name: 'Post.Office',
    marks: ['this message was undeliverable due to the following reason'],
  },
  { name: 'MDaemon', marks: ['the attached message had permanent fatal delivery errors'] },
  { name: 'other', marks: ['we had trouble delivering your message. full details follow'] },
  { name: 'Notes', loose: true, marks: ['------- failure reasons'] },
  { name: 'Domino', loose: true, marks: ['was not delivered to', 'delivery failure report'] },
  { name: 'OpenSMTPD', marks: ['this is the mailer-daemon, please do not reply'] },
  { name: 'GroupWise', loose: true, marks: ['was undeliverable to the following'] },
  { name: 'MailMarshal', loose: true, marks: ['could not be delivered because of'] },
  { name: 'James', marks: ['this is the james mail server'] },
  {
    name: 'other',
    loose: true,
    marks: [
      'the response from the remote server was',
      'remote server returned',
      'error message below:',
      'failed recipients',
      'message could not be delivered to mobile',
      'delivery failed for the following reason',
      'the error that the other server returned was',
      'your message could not be sent',
      'this message could not be delivered',
      'the following recipients were affected',
      '----- non-delivered information -----',
      'body of message generated response:',
      'unable to deliver message to',
      'unable to deliver mail',
      'message could not be delivered to',
      'mail could not be delivered to',
      'following addresses had',
      'could not be delivered to the following recipient',
      'could not be delivered to the following address',
      'could not be delivered to one or more recipients',
      'could not deliver your message',
      'could not deliver the message',
      'unable to deliver your message',
      'unable to deliver your email',
      'was unable to deliver',
      "wasn't delivered to",
      "couldn't be delivered",
      'an error occurred while trying to deliver',
      'delivery failed',
      'delivery failure',
      'mail delivery failed',
      'message undeliverable',
      'undeliverable message',
      'undelivered mail',
      'returned to sender',
      'mail has been returned',
      'message has been returned',
      'returned mail',
      'user unknown',
    ],
  },
]

/** It has arrived. */
export const successMarks: readonly string[] = [
  'enclosed is the mail delivery report that you requested',
  'was successfully delivered',
  'has been successfully delivered',
  'was successfully relayed',
  'your message was delivered to',
  'your message has been delivered',
  'your mail has been delivered',
  'was delivered to the following',
  'has been delivered to the following',
]

/** It will not be tried again, though the report says that it was late. */
export const finalMarks: readonly string[] = [
  'this is a permanent error',
  'failed permanently',
  'permanent fatal errors',
  'not going to try again',
  'have given up',
  'has been removed from the mail queue',
]

/** It will be tried again: no bounce, whatever it quotes. */
export const delayMarks: readonly string[] = [
  'this is a warning only',
  'this is a warning message only',
  'you do not need to resend your message',
  'has not yet been delivered to one or more',
  'has been delayed',
  'delivery is delayed',
  'message is delayed for more than',
  'delivery incomplete',
  'transient non-fatal errors',
  'will be retried',
  'will retry for',
  'will continue to be attempted',
  'will keep trying',
  'is still trying to deliver',
  'no action is required on your part',
  'still be trying to deliver',
]
