"""Short texts in thirty languages with their charsets, for benchmarks/extraction/charsets.py."""

from __future__ import annotations

TEXTS = {
    "Russian": (
        "cp1251 koi8_r iso8859_5 cp866",
        "Сегодня утром в городской библиотеке открылась выставка старых карт. Посетители могут увидеть, как менялись "
        "границы района за двести лет. Вход свободный, но в выходные лучше прийти пораньше. Кто составил первую карту,"
        " до сих пор неизвестно. Объявление висит у подъезда, возле кассы. Чай и пироги продают на втором этаже.",
    ),
    "Ukrainian": (
        "cp1251 koi8_u",
        "Сьогодні вранці в міській бібліотеці відкрили виставку старих мап. Відвідувачі можуть побачити, як змінювалис"
        "я межі району за двісті років. Вхід вільний, але у вихідні краще прийти раніше. Хто склав першу мапу, досі "
        "невідомо. Її знайшли на горищі, поміж газет. Чай і пиріжки продають на другому поверсі, біля сходів.",
    ),
    "Bulgarian": (
        "cp1251",
        "Тази сутрин в градската библиотека беше открита изложба на стари карти. Посетителите могат да видят как "
        "са се променяли границите на квартала за двеста години. Входът е свободен, но през почивните дни е по-добре "
        "да дойдете рано. Още не се знае кой е съставил първата карта. Чаят и баничките се продават на втория етаж.",
    ),
    "Serbian": (
        "cp1251",
        "Јутрос је у градској библиотеци отворена изложба старих мапа. Посетиоци могу да виде како су се границе "
        "краја мењале током двеста година. Улаз је слободан, али је викендом боље доћи раније. Још се не зна ко је "
        "нацртао прву мапу. Пронађена је на тавану, међу новинама. Чај и колачи продају се на другом спрату.",
    ),
    "Greek": (
        "cp1253 iso8859_7",
        "Σήμερα το πρωί άνοιξε στη δημοτική βιβλιοθήκη μια έκθεση με παλιούς χάρτες. Οι επισκέπτες μπορούν να δουν "
        "πώς άλλαξαν τα όρια της συνοικίας μέσα σε διακόσια χρόνια. Η είσοδος είναι ελεύθερη, αλλά το Σαββατοκύριακο "
        "είναι καλύτερα να έρθετε νωρίς. Κανείς δεν ξέρει ακόμη ποιος σχεδίασε τον πρώτο χάρτη. Το τσάι πωλείται "
        "πάνω.",
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
        "امروز صبح در کتابخانه شهر نمايشگاه نقشه هاي قديمي باز شد. بازديدکنندگان مي توانند ببينند که مرزهاي محله "
        "در دويست سال چگونه تغيير کرد. ورود آزاد است، اما آخر هفته بهتر است زود بيايند. هنوز کسي نمي داند نخستين "
        "نقشه را چه کسي کشيد. چاي و شيريني در طبقه دوم فروخته مي شود. نمايشگاه تا پايان ماه باز است.",
    ),
    "Turkish": (
        "cp1254 iso8859_9",
        "Bu sabah şehir kütüphanesinde eski haritalar sergisi açıldı. Ziyaretçiler mahallenin sınırlarının iki yüz "
        "yılda nasıl değiştiğini görebilir. Giriş ücretsiz, ama hafta sonu erken gelmek daha iyi olur. İlk haritayı "
        "kimin çizdiği hâlâ bilinmiyor. Çatı katında, gazetelerin arasında bulundu. Çay ve börek ikinci katta satılıyo"
        "r.",
    ),
    "Thai": (
        "cp874",
        "เช้าวันนี้หอสมุดเมืองเปิดนิทรรศการแผนที่เก่า ผู้เข้าชมจะได้เห็นว่าเขตของย่านนี้เปลี่ยนไปอย่างไรในสองร้อยปี เข้าชมฟรี แต่วันหยุด"
        "ควรมาแต่เช้า ยังไม่มีใครรู้ว่าใครเป็นคนวาดแผนที่แผ่นแรก มีคนพบมันบนห้องใต้หลังคาท่ามกลางหนังสือพิมพ์ ชาและขนมขายที่ชั้นสอง"
        "ใกล้บันได นิทรรศการจะเปิดถึงสิ้นเดือนหน้า",
    ),
    "Vietnamese": (
        "cp1258",
        "Sang nay thu viện thành phố mở triển lãm bản đồ cũ. Khách có thể xem ranh giới của khu phố đã thay đổi thế "
        "nào trong hai trăm năm. Vào cửa miễn phí, nhưng cuối tuần nên đến sớm. Chưa ai biết người nào vẽ tấm bản "
        "đồ đầu tiên. Trà và bánh bán ở tầng hai.",
    ),
    "Japanese": (
        "cp932 euc_jp iso2022_jp",
        "今朝、市立図書館で古い地図の展覧会が始まりました。二百年のあいだに町の境界がどう変わったかを見ることがで"
        "きます。入場は無料ですが、週末は早めに来るほうがよいでしょう。最初の地図を誰が描いたのかは、まだ分かって"
        "いません。屋根裏の新聞の間から見つかりました。お茶とケーキは二階の階段のそばで売っています。展覧会は来月"
        "の終わりまで開いています。",
    ),
    "Chinese (simplified)": (
        "gb18030",
        "今天早上，市图书馆的旧地图展览开幕了。参观者可以看到这个街区的边界在两百年间是怎样变化的。入场免费，但是"
        "周末最好早一点来。第一张地图是谁画的，至今没有人知道。它是在阁楼的报纸中间发现的。茶和点心在二楼楼梯旁边"
        "出售。展览一直开放到下个月底，学校的学生可以预约讲解。",
    ),
    "Chinese (traditional)": (
        "big5hkscs",
        "今天早上，市立圖書館的舊地圖展覽開幕了。參觀者可以看到這個街區的邊界在兩百年間是怎樣變化的。入場免費，但"
        "是週末最好早一點來。第一張地圖是誰畫的，至今沒有人知道。它是在閣樓的報紙中間發現的。茶和點心在二樓樓梯旁"
        "邊出售。展覽一直開放到下個月底，學校的學生可以預約講解。",
    ),
    "Korean": (
        "cp949",
        "오늘 아침 시립 도서관에서 옛 지도 전시회가 열렸습니다. 방문객은 이백 년 동안 동네의 경계가 어떻게 바뀌었"
        "는지 볼 수 있습니다. 입장은 무료이지만 주말에는 일찍 오는 것이 좋습니다. 첫 지도를 누가 그렸는지는 아직 "
        "아무도 모릅니다. 다락방의 신문 사이에서 발견되었습니다. 차와 과자는 이층 계단 옆에서 팝니다. 전시회는 다"
        "음 달 말까지 계속됩니다.",
    ),
    "Polish": (
        "cp1250 iso8859_2",
        "Dziś rano w bibliotece miejskiej otwarto wystawę starych map. Zwiedzający mogą zobaczyć, jak przez dwieście "
        "lat zmieniały się granice dzielnicy. Wstęp jest wolny, ale w weekend lepiej przyjść wcześniej. Wciąż nie "
        "wiadomo, kto narysował pierwszą mapę. Znaleziono ją na strychu, między gazetami. Herbatę i ciasto kupisz "
        "na piętrze.",
    ),
    "Czech": (
        "cp1250 iso8859_2",
        "Dnes ráno byla v městské knihovně otevřena výstava starých map. Návštěvníci mohou vidět, jak se hranice "
        "čtvrti za dvě stě let změnily. Vstup je volný, ale o víkendu je lepší přijít dříve. Stále se neví, kdo nakres"
        "lil první mapu. Našli ji na půdě mezi novinami. Čaj a koláče se prodávají ve druhém patře vedle schodiště.",
    ),
    "Slovak": (
        "cp1250",
        "Dnes ráno otvorili v mestskej knižnici výstavu starých máp. Návštevníci môžu vidieť, ako sa hranice štvrte "
        "za dvesto rokov zmenili. Vstup je voľný, ale cez víkend je lepšie prísť skôr. Stále sa nevie, kto nakreslil "
        "prvú mapu. Našli ju na povale medzi novinami. Čaj a koláče predávajú na druhom poschodí vedľa schodiska.",
    ),
    "Hungarian": (
        "cp1250 iso8859_2",
        "Ma reggel a városi könyvtárban régi térképek kiállítása nyílt meg. A látogatók megnézhetik, hogyan változtak "
        "a negyed határai kétszáz év alatt. A belépés ingyenes, de hétvégén jobb korábban érkezni. Még mindig nem "
        "tudni, ki rajzolta az első térképet. A padláson, újságok között találták. Teát és süteményt az emeleten "
        "árulnak.",
    ),
    "Romanian": (
        "cp1250 iso8859_2",
        "Azi dimineaţă s-a deschis la biblioteca oraşului o expoziţie de hărţi vechi. Vizitatorii pot vedea cum s-au "
        "schimbat graniţele cartierului în două sute de ani. Intrarea este liberă, dar la sfârşitul săptămânii e "
        "mai bine să veniţi devreme. Încă nu se ştie cine a desenat prima hartă. Ceaiul şi prăjiturile se vând la "
        "etaj.",
    ),
    "Croatian": (
        "cp1250",
        "Jutros je u gradskoj knjižnici otvorena izložba starih karata. Posjetitelji mogu vidjeti kako su se granice "
        "četvrti mijenjale tijekom dvjesto godina. Ulaz je slobodan, ali je vikendom bolje doći ranije. Još se ne "
        "zna tko je nacrtao prvu kartu. Pronađena je na tavanu među novinama. Čaj i kolači prodaju se na drugom katu.",
    ),
    "Lithuanian": (
        "cp1257 iso8859_13",
        "Šįryt miesto bibliotekoje atidaryta senų žemėlapių paroda. Lankytojai gali pamatyti, kaip per du šimtus "
        "metų keitėsi rajono ribos. Įėjimas nemokamas, bet savaitgalį geriau ateiti anksčiau. Iki šiol nežinoma, "
        "kas nubraižė pirmąjį žemėlapį. Jį rado palėpėje tarp laikraščių. Arbata ir pyragai parduodami antrame aukšte.",
    ),
    "Latvian": (
        "cp1257",
        "Šorīt pilsētas bibliotēkā tika atklāta veco karšu izstāde. Apmeklētāji var redzēt, kā divsimt gados mainījušā"
        "s rajona robežas. Ieeja ir brīva, bet nedēļas nogalē labāk nākt agrāk. Joprojām nav zināms, kas zīmēja pirmo "
        "karti. To atrada bēniņos starp avīzēm. Tēju un kūkas pārdod otrajā stāvā blakus kāpnēm.",
    ),
    "Estonian": (
        "cp1257",
        "Täna hommikul avati linna raamatukogus vanade kaartide näitus. Külastajad näevad, kuidas linnaosa piirid "
        "on kahesaja aasta jooksul muutunud. Sissepääs on tasuta, kuid nädalavahetusel on parem tulla varem. Siiani "
        "ei ole teada, kes joonistas esimese kaardi. See leiti pööningult ajalehtede vahelt. Teed ja kooke müüakse "
        "ülakorrusel.",
    ),
    "German": (
        "cp1252 iso8859_15",
        "Heute Morgen wurde in der Stadtbücherei eine Ausstellung alter Karten eröffnet. Die Besucher können sehen, "
        "wie sich die Grenzen des Viertels in zweihundert Jahren verändert haben. Der Eintritt ist frei, aber am "
        "Wochenende kommt man besser früher. Wer die erste Karte gezeichnet hat, weiß man bis heute nicht. Tee gibt "
        "es für 2 €.",
    ),
    "French": (
        "cp1252",
        "Ce matin, une exposition de cartes anciennes a été inaugurée à la bibliothèque de la ville. Les visiteurs "
        "peuvent voir comment les limites du quartier ont changé en deux siècles. L’entrée est libre, mais le week-end"
        " il vaut mieux arriver tôt. On ignore encore qui a dessiné la première carte. Le thé coûte 2 € à l’étage.",
    ),
    "Spanish": (
        "cp1252",
        "Esta mañana se inauguró en la biblioteca municipal una exposición de mapas antiguos. Los visitantes pueden "
        "ver cómo cambiaron los límites del barrio en doscientos años. La entrada es gratuita, pero el fin de semana "
        "es mejor llegar temprano. Aún no se sabe quién dibujó el primer mapa. ¿Dónde venden el té? En el segundo "
        "piso.",
    ),
    "Portuguese": (
        "cp1252",
        "Esta manhã foi inaugurada na biblioteca municipal uma exposição de mapas antigos. Os visitantes podem ver "
        "como os limites do bairro mudaram em duzentos anos. A entrada é livre, mas no fim de semana é melhor chegar "
        "cedo. Ainda não se sabe quem desenhou o primeiro mapa. Estava no sótão, entre jornais. O chá é vendido lá "
        "em cima.",
    ),
    "Swedish": (
        "cp1252",
        "I morse öppnades en utställning av gamla kartor på stadsbiblioteket. Besökarna kan se hur stadsdelens gränser"
        " har ändrats på tvåhundra år. Inträdet är fritt, men på helgen är det bättre att komma tidigt. Man vet ännu "
        "inte vem som ritade den första kartan. Den hittades på vinden bland tidningar. Te och kakor säljs på övervåni"
        "ngen.",
    ),
    "English": (
        "cp1252",
        "This morning an exhibition of old maps was opened at the city’s library. Visitors can see how the borders "
        "of the quarter have changed within two hundred years. Entry is free, but at the weekend it is “better to "
        "come early”. Nobody knows who drew the first map – it was found in the attic. Tea is £2 or €3 at the café "
        "upstairs.",
    ),
}
"""For each language, the charsets in which its sites are or were served, and a text."""
