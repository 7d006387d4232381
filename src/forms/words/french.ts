import type { FormWords } from './words.js'

export const french: FormWords = {
  language: 'fr',
  email: 'Adresse e-mail',
  firstName: 'Prénom',
  lastName: 'Nom',
  topics: 'Que souhaitez-vous recevoir ?',
  choose: 'Choisissez',
  optional: 'facultatif',
  submit: 'S’inscrire',
  missing: 'Veuillez remplir ce champ.',
  noChoice: 'Choisissez parmi :',
  noNumber: 'Ce n’est pas un nombre, comme 12.',
  noDate: 'Ce n’est pas une date, comme 2026-12-24.',
  noAddress: 'Veuillez écrire une adresse e-mail, comme ada@example.com.',
  tooLong: 'C’est trop long.',
  consent: 'Je souhaite recevoir la newsletter. Je peux me désinscrire à tout moment.',
  agree: 'Veuillez cocher cette case pour vous inscrire.',
  working: 'Un instant : votre navigateur vérifie le formulaire…',
  noScript:
    'Sans JavaScript, ce formulaire ne peut accepter que peu de personnes par heure en ce moment. Autorisez-le pour cette page si vous le pouvez.',
  check: {
    title: 'Veuillez cliquer sur le bouton',
    line: 'Cela montre qu’une personne a envoyé ce formulaire.',
    again: 'C’était plus rapide qu’une personne. Veuillez cliquer encore une fois.',
    button: 'Oui, je m’inscris',
  },
  sent: {
    title: 'Encore un clic : regardez votre boîte mail',
    lines: [
      'Si tout est en ordre, un e-mail avec un lien arrive, le plus souvent dans quelques minutes. Seul son lien vous inscrit.',
      'Rien ? Regardez dans le dossier des indésirables. S’il n’y a toujours rien demain, remplissez de nouveau le formulaire.',
    ],
  },
  confirm: {
    title: () => 'Encore un clic',
    line: (account) => `Cliquez sur le bouton pour recevoir les e-mails de ${account}.`,
    button: 'Confirmer',
  },
  confirmed: {
    title: 'Vous êtes inscrit(e)',
    line: (account) => `Merci. Vous recevez désormais les e-mails de ${account}.`,
  },
  lapsed: {
    title: 'Vous ne recevez pas d’e-mails en ce moment',
    line: (account) =>
      `Cette adresse est confirmée, mais sans effet désormais : vous vous êtes désabonné(e) de ${account} depuis, ou ce à quoi vous vous étiez inscrit(e) n’existe plus.`,
    again: 'Remplir de nouveau le formulaire',
  },
  later: {
    title: 'Veuillez réessayer plus tard',
    line: 'L’inscription n’a pas pu se faire. Le lien reste valable ; cliquez de nouveau plus tard.',
  },
  gone: {
    title: 'Ce lien ne fonctionne plus',
    lines: [
      'Il a été coupé, ou il a plus de sept jours.',
      'Remplissez de nouveau le formulaire si vous souhaitez recevoir les e-mails.',
    ],
  },
  closed: {
    title: 'Ce formulaire n’accepte personne pour le moment',
    lines: [
      'Rien de ce qui est saisi ici n’est conservé en ce moment, et aucun e-mail n’est envoyé.',
      'Revenez plus tard et remplissez-le alors. Un lien que vous avez déjà reçu par e-mail reste valable.',
    ],
  },
  noForm: {
    title: 'Ce formulaire n’existe pas ici',
    lines: [
      'Son adresse est incomplète, ou le formulaire a été retiré.',
      'Demandez la bonne adresse à qui vous l’a donnée.',
    ],
  },
  mail: {
    subject: (account) => `Veuillez confirmer : e-mails de ${account}`,
    reminder: (account) => `À confirmer : e-mails de ${account}`,
    line: (account) =>
      `Quelqu’un, vous sans doute, a inscrit cette adresse aux e-mails de ${account}. Veuillez confirmer que c’était vous :`,
    button: 'Confirmer',
    ignore: 'Ce n’était pas vous ? Ne faites rien : vous ne recevrez pas d’e-mails.',
  },
}
