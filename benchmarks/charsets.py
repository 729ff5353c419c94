"""Which detector finds the charset of a text that does not name it: `python benchmarks/charsets.py`.

The texts are our own, in thirty languages, each in the charsets in which its sites were, and in some cases still are,
served. A detector is right when the text decoded as it says is the text, character for character; which of two names
it gives to the same bytes is no matter. Lengths are in characters; the longer texts are the sentences in a shuffled
order. `tags` puts them into a page of ASCII markup, as they arrive. Peers that are not installed are left out.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "server"))

LENGTHS = (100, 300, 1_000, 4_000, 20_000)
VARIANTS = 4
"""Different texts of each length."""
Detector = Callable[[bytes], str]
"""From bytes to the text they are taken for."""

TEXTS = {
    "Russian": (
        "cp1251 koi8_r iso8859_5 cp866",
        "Сегодня утром в городской библиотеке открылась выставка старых карт. Посетители могут увидеть, как менялись "
        "границы района за двести лет. Вход свободный, но в выходные лучше прийти пораньше. Кто составил первую карту, "
        "до сих пор неизвестно. Объявление висит у подъезда, возле кассы. Чай и пироги продают на втором этаже.",
    ),
    "Ukrainian": (
        "cp1251 koi8_u",
        "Сьогодні вранці в міській бібліотеці відкрили виставку старих мап. Відвідувачі можуть побачити, як змінювалися "
        "межі району за двісті років. Вхід вільний, але у вихідні краще прийти раніше. Хто склав першу мапу, досі "
        "невідомо. Її знайшли на горищі, поміж газет. Чай і пиріжки продають на другому поверсі, біля сходів.",
    ),
    "Bulgarian": (
        "cp1251",
        "Тази сутрин в градската библиотека беше открита изложба на стари карти. Посетителите могат да видят как са се "
        "променяли границите на квартала за двеста години. Входът е свободен, но през почивните дни е по-добре да "
        "дойдете рано. Още не се знае кой е съставил първата карта. Чаят и баничките се продават на втория етаж.",
    ),
    "Serbian": (
        "cp1251",
        "Јутрос је у градској библиотеци отворена изложба старих мапа. Посетиоци могу да виде како су се границе краја "
        "мењале током двеста година. Улаз је слободан, али је викендом боље доћи раније. Још се не зна ко је нацртао "
        "прву мапу. Пронађена је на тавану, међу новинама. Чај и колачи продају се на другом спрату.",
    ),
    "Greek": (
        "cp1253 iso8859_7",
        "Σήμερα το πρωί άνοιξε στη δημοτική βιβλιοθήκη μια έκθεση με παλιούς χάρτες. Οι επισκέπτες μπορούν να δουν πώς "
        "άλλαξαν τα όρια της συνοικίας μέσα σε διακόσια χρόνια. Η είσοδος είναι ελεύθερη, αλλά το Σαββατοκύριακο είναι "
        "καλύτερα να έρθετε νωρίς. Κανείς δεν ξέρει ακόμη ποιος σχεδίασε τον πρώτο χάρτη. Το τσάι πωλείται πάνω.",
    ),
    "Hebrew": (
        "cp1255 iso8859_8",
        "הבוקר נפתחה בספרייה העירונית תערוכה של מפות ישנות. המבקרים יכולים לראות כיצד השתנו גבולות השכונה במשך מאתיים "
        "שנה. הכניסה חופשית, אבל בסוף השבוע כדאי להגיע מוקדם. עדיין לא ידוע מי שרטט את המפה הראשונה. היא נמצאה בעליית "
        "הגג, בין עיתונים. את התה והעוגות מוכרים בקומה השנייה, ליד המדרגות. התערוכה תהיה פתוחה עד סוף החודש.",
    ),
    "Arabic": (
        "cp1256 iso8859_6",
        "افتتح صباح اليوم في مكتبة المدينة معرض للخرائط القديمة. يستطيع الزوار أن يروا كيف تغيرت حدود الحي خلال مئتي "
        "عام. الدخول مجاني، لكن من الأفضل الحضور مبكرا في نهاية الأسبوع. لا أحد يعرف حتى الآن من رسم الخريطة الأولى. "
        "عثر عليها في العلية بين الصحف. يباع الشاي والكعك في الطابق الثاني قرب الدرج. يستمر المعرض حتى آخر الشهر.",
    ),
    "Persian": (
        "cp1256",
        "امروز صبح در کتابخانه شهر نمایشگاه نقشه هاي قديمي باز شد. بازدیدکنندگان مي توانند ببينند که مرزهاي محله در "
        "دويست سال چگونه تغيير کرد. ورود آزاد است، اما آخر هفته بهتر است زود بيايند. هنوز کسي نمي داند نخستين نقشه را "
        "چه کسي کشيد. چاي و شيريني در طبقه دوم فروخته مي شود. نمايشگاه تا پايان ماه باز است.".replace("ی", "ي"),
    ),
    "Turkish": (
        "cp1254 iso8859_9",
        "Bu sabah şehir kütüphanesinde eski haritalar sergisi açıldı. Ziyaretçiler mahallenin sınırlarının iki yüz yılda "
        "nasıl değiştiğini görebilir. Giriş ücretsiz, ama hafta sonu erken gelmek daha iyi olur. İlk haritayı kimin "
        "çizdiği hâlâ bilinmiyor. Çatı katında, gazetelerin arasında bulundu. Çay ve börek ikinci katta satılıyor.",
    ),
    "Thai": (
        "cp874",
        "เช้าวันนี้หอสมุดเมืองเปิดนิทรรศการแผนที่เก่า ผู้เข้าชมจะได้เห็นว่าเขตของย่านนี้เปลี่ยนไปอย่างไรในสองร้อยปี เข้าชมฟรี แต่วันหยุดควรมาแต่เช้า "
        "ยังไม่มีใครรู้ว่าใครเป็นคนวาดแผนที่แผ่นแรก มีคนพบมันบนห้องใต้หลังคาท่ามกลางหนังสือพิมพ์ ชาและขนมขายที่ชั้นสองใกล้บันได "
        "นิทรรศการจะเปิดถึงสิ้นเดือนหน้า",
    ),
    "Vietnamese": (
        "cp1258",
        "Sang nay thu viê\u0323n tha\u0300nh phô\u0301 mơ\u0309 triê\u0309n la\u0303m ba\u0309n đô\u0300 cu\u0303. Kha\u0301ch co\u0301 thê\u0309 "
        "xem ranh giơ\u0301i cu\u0309a khu phô\u0301 đa\u0303 thay đô\u0309i thê\u0301 na\u0300o trong hai trăm năm. Va\u0300o cư\u0309a miê\u0303n "
        "phi\u0301, nhưng cuô\u0301i tuâ\u0300n nên đê\u0301n sơ\u0301m. Chưa ai biê\u0301t ngươ\u0300i na\u0300o ve\u0303 tâ\u0301m ba\u0309n đô\u0300 "
        "đâ\u0300u tiên. Tra\u0300 va\u0300 ba\u0301nh ba\u0301n ơ\u0309 tâ\u0300ng hai.",
    ),
    "Japanese": (
        "cp932 euc_jp iso2022_jp",
        "今朝、市立図書館で古い地図の展覧会が始まりました。二百年のあいだに町の境界がどう変わったかを見ることができます。入場は無料ですが、週末は"
        "早めに来るほうがよいでしょう。最初の地図を誰が描いたのかは、まだ分かっていません。屋根裏の新聞の間から見つかりました。お茶とケーキは二階の"
        "階段のそばで売っています。展覧会は来月の終わりまで開いています。",
    ),
    "Chinese (simplified)": (
        "gb18030",
        "今天早上，市图书馆的旧地图展览开幕了。参观者可以看到这个街区的边界在两百年间是怎样变化的。入场免费，但是周末最好早一点来。第一张地图是谁"
        "画的，至今没有人知道。它是在阁楼的报纸中间发现的。茶和点心在二楼楼梯旁边出售。展览一直开放到下个月底，学校的学生可以预约讲解。",
    ),
    "Chinese (traditional)": (
        "big5hkscs",
        "今天早上，市立圖書館的舊地圖展覽開幕了。參觀者可以看到這個街區的邊界在兩百年間是怎樣變化的。入場免費，但是週末最好早一點來。第一張地圖是誰"
        "畫的，至今沒有人知道。它是在閣樓的報紙中間發現的。茶和點心在二樓樓梯旁邊出售。展覽一直開放到下個月底，學校的學生可以預約講解。",
    ),
    "Korean": (
        "cp949",
        "오늘 아침 시립 도서관에서 옛 지도 전시회가 열렸습니다. 방문객은 이백 년 동안 동네의 경계가 어떻게 바뀌었는지 볼 수 있습니다. 입장은 "
        "무료이지만 주말에는 일찍 오는 것이 좋습니다. 첫 지도를 누가 그렸는지는 아직 아무도 모릅니다. 다락방의 신문 사이에서 발견되었습니다. 차와 "
        "과자는 이층 계단 옆에서 팝니다. 전시회는 다음 달 말까지 계속됩니다.",
    ),
    "Polish": (
        "cp1250 iso8859_2",
        "Dziś rano w bibliotece miejskiej otwarto wystawę starych map. Zwiedzający mogą zobaczyć, jak przez dwieście lat "
        "zmieniały się granice dzielnicy. Wstęp jest wolny, ale w weekend lepiej przyjść wcześniej. Wciąż nie wiadomo, "
        "kto narysował pierwszą mapę. Znaleziono ją na strychu, między gazetami. Herbatę i ciasto kupisz na piętrze.",
    ),
    "Czech": (
        "cp1250 iso8859_2",
        "Dnes ráno byla v městské knihovně otevřena výstava starých map. Návštěvníci mohou vidět, jak se hranice čtvrti "
        "za dvě stě let změnily. Vstup je volný, ale o víkendu je lepší přijít dříve. Stále se neví, kdo nakreslil první "
        "mapu. Našli ji na půdě mezi novinami. Čaj a koláče se prodávají ve druhém patře vedle schodiště.",
    ),
    "Slovak": (
        "cp1250",
        "Dnes ráno otvorili v mestskej knižnici výstavu starých máp. Návštevníci môžu vidieť, ako sa hranice štvrte za "
        "dvesto rokov zmenili. Vstup je voľný, ale cez víkend je lepšie prísť skôr. Stále sa nevie, kto nakreslil prvú "
        "mapu. Našli ju na povale medzi novinami. Čaj a koláče predávajú na druhom poschodí vedľa schodiska.",
    ),
    "Hungarian": (
        "cp1250 iso8859_2",
        "Ma reggel a városi könyvtárban régi térképek kiállítása nyílt meg. A látogatók megnézhetik, hogyan változtak a "
        "negyed határai kétszáz év alatt. A belépés ingyenes, de hétvégén jobb korábban érkezni. Még mindig nem tudni, "
        "ki rajzolta az első térképet. A padláson, újságok között találták. Teát és süteményt az emeleten árulnak.",
    ),
    "Romanian": (
        "cp1250 iso8859_2",
        "Azi dimineaţă s-a deschis la biblioteca oraşului o expoziţie de hărţi vechi. Vizitatorii pot vedea cum s-au "
        "schimbat graniţele cartierului în două sute de ani. Intrarea este liberă, dar la sfârşitul săptămânii e mai "
        "bine să veniţi devreme. Încă nu se ştie cine a desenat prima hartă. Ceaiul şi prăjiturile se vând la etaj.",
    ),
    "Croatian": (
        "cp1250",
        "Jutros je u gradskoj knjižnici otvorena izložba starih karata. Posjetitelji mogu vidjeti kako su se granice "
        "četvrti mijenjale tijekom dvjesto godina. Ulaz je slobodan, ali je vikendom bolje doći ranije. Još se ne zna "
        "tko je nacrtao prvu kartu. Pronađena je na tavanu među novinama. Čaj i kolači prodaju se na drugom katu.",
    ),
    "Lithuanian": (
        "cp1257 iso8859_13",
        "Šįryt miesto bibliotekoje atidaryta senų žemėlapių paroda. Lankytojai gali pamatyti, kaip per du šimtus metų "
        "keitėsi rajono ribos. Įėjimas nemokamas, bet savaitgalį geriau ateiti anksčiau. Iki šiol nežinoma, kas nubraižė "
        "pirmąjį žemėlapį. Jį rado palėpėje tarp laikraščių. Arbata ir pyragai parduodami antrame aukšte.",
    ),
    "Latvian": (
        "cp1257",
        "Šorīt pilsētas bibliotēkā tika atklāta veco karšu izstāde. Apmeklētāji var redzēt, kā divsimt gados mainījušās "
        "rajona robežas. Ieeja ir brīva, bet nedēļas nogalē labāk nākt agrāk. Joprojām nav zināms, kas zīmēja pirmo "
        "karti. To atrada bēniņos starp avīzēm. Tēju un kūkas pārdod otrajā stāvā blakus kāpnēm.",
    ),
    "Estonian": (
        "cp1257",
        "Täna hommikul avati linna raamatukogus vanade kaartide näitus. Külastajad näevad, kuidas linnaosa piirid on "
        "kahesaja aasta jooksul muutunud. Sissepääs on tasuta, kuid nädalavahetusel on parem tulla varem. Siiani ei ole "
        "teada, kes joonistas esimese kaardi. See leiti pööningult ajalehtede vahelt. Teed ja kooke müüakse ülakorrusel.",
    ),
    "German": (
        "cp1252 iso8859_15",
        "Heute Morgen wurde in der Stadtbücherei eine Ausstellung alter Karten eröffnet. Die Besucher können sehen, wie "
        "sich die Grenzen des Viertels in zweihundert Jahren verändert haben. Der Eintritt ist frei, aber am Wochenende "
        "kommt man besser früher. Wer die erste Karte gezeichnet hat, weiß man bis heute nicht. Tee gibt es für 2 €.",
    ),
    "French": (
        "cp1252",
        "Ce matin, une exposition de cartes anciennes a été inaugurée à la bibliothèque de la ville. Les visiteurs "
        "peuvent voir comment les limites du quartier ont changé en deux siècles. L’entrée est libre, mais le week-end "
        "il vaut mieux arriver tôt. On ignore encore qui a dessiné la première carte. Le thé coûte 2 € à l’étage.",
    ),
    "Spanish": (
        "cp1252",
        "Esta mañana se inauguró en la biblioteca municipal una exposición de mapas antiguos. Los visitantes pueden ver "
        "cómo cambiaron los límites del barrio en doscientos años. La entrada es gratuita, pero el fin de semana es "
        "mejor llegar temprano. Aún no se sabe quién dibujó el primer mapa. ¿Dónde venden el té? En el segundo piso.",
    ),
    "Portuguese": (
        "cp1252",
        "Esta manhã foi inaugurada na biblioteca municipal uma exposição de mapas antigos. Os visitantes podem ver como "
        "os limites do bairro mudaram em duzentos anos. A entrada é livre, mas no fim de semana é melhor chegar cedo. "
        "Ainda não se sabe quem desenhou o primeiro mapa. Estava no sótão, entre jornais. O chá é vendido lá em cima.",
    ),
    "Swedish": (
        "cp1252",
        "I morse öppnades en utställning av gamla kartor på stadsbiblioteket. Besökarna kan se hur stadsdelens gränser "
        "har ändrats på tvåhundra år. Inträdet är fritt, men på helgen är det bättre att komma tidigt. Man vet ännu inte "
        "vem som ritade den första kartan. Den hittades på vinden bland tidningar. Te och kakor säljs på övervåningen.",
    ),
    "English": (
        "cp1252",
        "This morning an exhibition of old maps was opened at the city’s library. Visitors can see how the borders of "
        "the quarter have changed within two hundred years. Entry is free, but at the weekend it is “better to come "
        "early”. Nobody knows who drew the first map – it was found in the attic. Tea is £2 or €3 at the café upstairs.",
    ),
}
"""By language: the charsets, and sentences about one small event."""


@dataclass(frozen=True, slots=True)
class Case:
    """One text in one charset."""

    language: str
    charset: str
    length: int
    tags: bool
    text: str

    @property
    def body(self) -> bytes:
        return self.text.encode(self.charset)


def cases() -> Iterator[Case]:
    """Every language, charset, length and kind, the same ones every time."""
    for language, (charsets, whole) in TEXTS.items():
        for charset in charsets.split():
            draw = random.Random(f"{language} {charset}")
            for length in LENGTHS:
                for variant in range(VARIANTS):
                    text = _drawn(whole, length, draw)
                    yield Case(language, charset, length, bool(variant % 2), _page(text) if variant % 2 else text)


def _drawn(whole: str, length: int, draw: random.Random) -> str:
    mark = "。" if "。" in whole else ". "
    sentences = whole.split(mark)
    out = ""
    while len(out) < length:
        draw.shuffle(sentences)
        out += mark.join(sentences) + mark
    return out[:length]


def _page(text: str) -> str:
    """The text among ASCII markup three times its length, at least that of a small page's head."""
    head = '<!DOCTYPE html>\n<html><head><title>{}</title>\n<link rel="stylesheet" href="/static/site.css">\n'
    head += "<script>window.dataLayer = window.dataLayer || []; var page = {{id: 17}};</script></head>\n<body>\n"
    pieces = [text[start : start + 80] for start in range(0, len(text), 80)]
    rows = (
        f'<div class="row"><p class="body-text"><a href="/page/{n}">{p}</a></p></div>\n' for n, p in enumerate(pieces)
    )
    return head.format(text[:30]) + "".join(rows) + "</body></html>"


def keyhole() -> Detector:
    """What Keyhole makes of a body whose header and markup name no charset."""
    from keyhole.extract.decode import decode

    return lambda body: decode(body, "text/html")


def charset_normalizer() -> Detector:
    """Its best match."""
    from charset_normalizer import from_bytes

    def read(body: bytes) -> str:
        best = from_bytes(body).best()
        return body.decode(best.encoding if best else "cp1252", "replace")

    return read


def chardet() -> Detector:
    """With its preference for the wider of two charsets."""
    from chardet import detect

    return lambda body: body.decode(detect(body, prefer_superset=True)["encoding"] or "cp1252", "replace")


def cchardet() -> Detector:
    """Mozilla's first universal detector (uchardet)."""
    from cchardet import detect

    return lambda body: _python(body, detect(body)["encoding"])


def chardetng() -> Detector:
    """Firefox's detector."""
    from chardetng_py import detect

    return lambda body: _python(body, detect(body, allow_utf8=True))


def _python(body: bytes, name: str | None) -> str:
    """Decoded as Python or, where it does not know the name, as the web means it."""
    import webencodings

    found = webencodings.lookup(name or "windows-1252")
    return body.decode(found.codec_info.name if found else str(name), "replace")


def main() -> int:
    """Measure every detector that is installed, and print the tables."""
    makers: tuple[Callable[[], Detector], ...] = (keyhole, charset_normalizer, chardet, cchardet, chardetng)
    wanted = set(sys.argv[1:])
    tried = list(cases())
    results: dict[str, dict[Case, tuple[bool, float]]] = {}
    for make in makers:
        if wanted and make.__name__ not in wanted:
            continue
        try:
            detector = make()
        except ImportError:
            continue
        results[make.__name__] = {case: measured(detector, case) for case in tried}
    report(tried, results)
    return 0


def measured(detector: Detector, case: Case) -> tuple[bool, float]:
    """Whether it read the text, and the seconds it took."""
    body = case.body
    started = time.perf_counter()
    try:
        text = detector(body)
    except (LookupError, UnicodeError):
        text = ""
    return text == case.text, time.perf_counter() - started


def report(tried: list[Case], results: dict[str, dict[Case, tuple[bool, float]]]) -> None:
    """Percent of texts read exactly, and milliseconds."""
    print(f"{len(tried)} texts\n")
    print(f"| | {' | '.join(results)} |")
    print(f"|---|{'---:|' * len(results)}")
    for length in LENGTHS:
        for tags in (False, True):
            rows = [case for case in tried if (case.length, case.tags) == (length, tags)]
            _row(f"{length:,} characters{', tags' if tags else ''}", rows, results)
    for charset in dict.fromkeys(case.charset for case in tried):
        _row(charset, [case for case in tried if case.charset == charset], results)
    _row("all", tried, results)
    longest = [case for case in tried if case.length == LENGTHS[-1]]
    speeds = [
        statistics.median(by_case[case][1] / len(case.body) * 100_000 * 1_000 for case in longest)
        for by_case in results.values()
    ]
    print(f"| ms per 100 KB (median, longest texts) | {' | '.join(f'{speed:.1f}' for speed in speeds)} |")


def _row(name: str, rows: list[Case], results: dict[str, dict[Case, tuple[bool, float]]]) -> None:
    shares = [100 * statistics.mean(by_case[case][0] for case in rows) for by_case in results.values()]
    print(f"| {name} | {' | '.join(f'{share:.1f}' for share in shares)} |")


if __name__ == "__main__":
    sys.exit(main())
