"""What pieces of text weigh, and words that vocabularies hold whole. Made by benchmarks/tokens.py."""

from __future__ import annotations

from typing import Final

WEIGHTS: Final = {
    "1 bytes": (1000, 0),
    "2 bytes": (1500, 0),
    "3 bytes": (2147, 0),
    "4 bytes": (3000, 0),
    "Arabic": (461, 461),
    "CJK signs": (2010, 0),
    "Cyrillic": (1398, 164),
    "Devanagari": (1959, 338),
    "Greek": (454, 454),
    "Han": (883, 883),
    "Hangul": (914, 606),
    "Hebrew": (1100, 1100),
    "Hiragana": (1656, 49),
    "Katakana": (1148, 545),
    "Thai": (1332, 446),
    "accents": (0, 415),
    "capitals": (2186, 0),
    "digits": (1000, 0),
    "known beginning": (975, 365),
    "known word": (868, 0),
    "letter": (1238, 0),
    "letter of 2 bytes": (2000, 0),
    "letter of 3 bytes": (3000, 0),
    "letter of 4 bytes": (4000, 0),
    "newlines": (561, 0),
    "signs": (790, 145),
    "space": (1417, 0),
    "spaces": (661, 0),
    "tabs": (1418, 0),
    "word": (1347, 491),
    "word of 2": (1288, 0),
    "word of 3": (829, 0),
}
"""Thousandths of a token: of a piece, and of each more."""

WORDS: Final = frozenset(
    """
    aantal abandon aber ability able about above absol absolut absolute absolutely absor abstract abuse academic
    acceler accept accepted access accessible accessories accident accommod accomp accompl accomplish accord
    according account accounts accum accur accuracy accurate achie achieve achieved achter acid acknow acomp aconte
    acqu across action actions activ active activities activity actor actual actually adalah adapt adapter added
    adding addition additional addr address addresses adds adequ adjust admin administr administration adopt adult
    adults advance advanced advant advantage advantages advent adventure advert advertising advice advis advoc
    affect affected affili affiliate afford affordable afin after afternoon again against agencies agency agent
    agents ages aggreg agora agre agree agreed agreement agua ahead ahora ainda ainsi airport akan aktiv alarm
    album alcohol alert algo algorithm algun alguns align aliment alive alla alle alleen alleg aller allerg alles
    alloc allow allowed allowing allows almost alone along alors alpha already also alta alter altern alternative
    although altijd alum always amazing amen amer among amor amount amounts ampl anal analy analysis anche ancient
    anda ander andere anderen anders android androidx ange angle anim animal animals animated animation announced
    annual anos another answer answers ante anterior antes anti anticip anxiety anymore anyone anything anyway
    anywhere apar apare apart apartment apenas aplic appar appe appeal appear appearance appeared appears append
    applic applicable application applications applied apply appoint appointment appreciate appro approach
    appropriate approval approved approximately apps apresent apro aqui arbe arch architect architecture area areas
    aren args argument arguments aria arms around arrang arrangement array arrest arrive arrived article articles
    artist artists arts asked asking aspect aspects assembly assert assess assessment asset assets assign assigned
    assim assist assistance associ associated association assum assume async atau atmos atmosphere atrav attach
    attached attack attacks attempt attend attention attorney attr attract attractive attribute attributes auch
    audience audio aument aunque aussi auth author authorities authority authors auto autom automatic automatically
    autor autre autres availability available avait aval avant avec average avez avoid avoir avons await award
    aware awareness away awesome axios axis baby back background bacter bags balance ball band bang bank banks bare
    barn barr bars base based basic basically basis basket bast batch bath bathroom batt batter battery battle
    beach bear beat beaucoup beaut beautiful beauty became because become becomes becoming bedroom been beer before
    began begin beginning begins behand behavior behind beim being belang belie belief believe believed belong
    below bench benef benefit benefits bent bere bereits besch best beste beta better betting between beyond bias
    bien bigger biggest bike bill billion binary bind binding binnen bird birth birthday bisa bits black blank
    bless blij block blocks blog blogs blood blow blue board boat bodies body bold bomb bond bone bonne bonus book
    booking books bool boolean boost boot border born borrow boss both bott bottle bottom bought bound bout bowl
    boxes boys brain branch brand brands bread break breakfast breaking breast breath bridge brief bright bring
    bringing brings broad broadcast broken brother brought brown brows browser buck budget buff buffer build
    builder building buildings built bundle burn business businesses busy butter button buttons buying byte bytes
    cabe cable cache cada cake calcul calculate calendar calidad call callback called calling calls camb came
    camera camp campaign campo campus cancel cancer candid candidate candidates cann cannot cant canvas
    capabilities capable capac capacity capital capt capture cara caracter carbon card cards care career carefully
    carr carried carry cars cart casa case cases cash casino casinos caso casos cast casual catalog catch categor
    categories category caught caus cause caused causes causing cela cele celebr celebrate cell cells cent center
    central centre centro century cerca cert certain certainly certificate certified cette chain chair chall
    challeng challenge challenges challenging cham champ chance chances chang change changed changes changing
    channel channels chap chapter chaque char character characteristics characters charg charge charged charges
    chart chat cheap check checked checking checks cheese chem chemical cher chez chicken chief child children chip
    chocolate choice choices choose choosing chose chosen chunk church cidade circ circle circuit circum
    circumstances cities citiz citizens city ciudad civil claim claims clar class classes classic clean cleaning
    clear clearly click clicking client cliente clientes clients clim climate clin clinical clip clock clos close
    closed closely closer closing cloth clothes clothing cloud club cluster coach coal coast cock code codes coding
    coff coffee coin cold coll collabor collaboration colle collect collected collection collections colleg college
    coloc colon color colors colour column columns comb combat combination combine combined come coment comerc
    comes comfort comfortable coming comm command commands comme comment comments commercial commission commit
    commitment committed common commonly commun communicate communication communications communities community como
    comp compact compan companies company compar compare compared comparison compart compat compens compet
    competition competitive compl complaint comple complement complet complete completed completely completion
    complex compliance complic component components compos compr compreh comprehensive comprom compte comput
    compute computer comun comunic conc conce concentr concept concepts concern concerned concerning concerns
    concert concrete cond condition conditions conduct conducted conf conference confidence confident config
    configuration confirm confirmed conflic conflict conform conhe conj conn conna connect connected connection
    connections conoc cons consc conse consegu consent conserv consider consideration considered considering
    consist consistent consists console const constant constantly constit construct construction constructor
    consult consum consumer consumers consumption cont conta contact contain contained container containing
    contains contemporary conten content contents contest context contin continu continue continued continues
    continuing contr contra contract contrast contre contrib contribute contro control controlled controller
    controls conv conven convenient convent conver convers conversation conversion convert cook cookie cookies
    cooking cool copies copy copyright core corner corpor corporate corr corre correct correctly correspond
    corresponding cort cost costs could couldn coun counsel count counter countries country county couple cour
    cours course courses court cout cover coverage covered covers craft crash crazy cream creat create created
    creates creating creation creative cred credit crew crime criminal crisis crit criteria critic critical cross
    crow crowd cruc crucial crusher crushing crypt cual cualquier cuando cuenta cult cultural culture curr currency
    current currently cursor cust custom customer customers cute cutting cycle daar dabei dados daha daily dalam
    damage damit dance danger dangerous dann dans dapat dari dark dass data database datas dataset date dates
    datetime dating datos daughter days dazu dead deal dealing deals death debate debe debt debug debut decade
    decades decent decide decided decir decis decision decisions deck decl declar decor decre dedicated deep
    default defe defense defin define defined definit definitely definition degree degrees deix delay delete
    deleted delicious delight deliver delivered delivery dell della delle delta demand democr demonstr dengan denn
    dent dental dentro depart department depend depending depends deploy depois deposit depth depuis dere desarroll
    desc describe described description desde dese design designed designer designs desire desired desk desktop
    despite dess dest destination destroy detail detailed details detect determ determin determine determined deux
    deve develop developed developer developers developing development device devices deze diabetes diagn
    diagnostic dialog diam dias dice dich dict dictionary didn died dies diese diesem dieser dieses diet difer
    diferentes diff differ difference differences different diffic difficult digit digital dimension dimensions
    dining dinner dipl dire direct directed direction directly director directory direkt disable disabled
    disappoint disc discount discover discovered discuss discussed discussion dise disease dish disk disp dispatch
    display displayed dispon dispos disposit disse dist distance distinct distr distributed distribution district
    divers diverse division django doch doctor document documentation documents doen does doesn dogs doing dois
    doit doll dollar dollars domain domestic domin donc donde done donn dont door doors dorm dose doub double doubt
    down download draft drag dram draw drawing dream dreams dress drink drive driver drivers driving drop dropped
    drug drugs dump dumpster durable durante duration durch during dust duty dynam dynamic each earlier early earn
    earned earth ease easier easily east easy eating echo echt econ econom economic economy edge edges edit editing
    edition editor educ education educational eens eerste efect effect effective effectively effects effet
    efficiency efficient effort efforts efter eigen eight eine einem einen einer eines einfach eing either elect
    election electr electric electrical electron electronic eleg elektr elem element elements eles elev elif elig
    eligible elim elimin ella elle eller ellos else email emails embr emerg emergency emit emot emotional emph
    employ employee employees employment empres empresa empresas empty enable enabled enables encoding encontr
    encontrar encore encounter encour encourage encuent ended ending endl ends enemy energ energy engage engagement
    engine engineering enhance enjoy enjoyed enorm enough ensure enter entered enterprise entertain entertainment
    enth entire entirely entity entr entre entreg entreprene entries entry ents enum enumer environ environment
    environmental epis episode equal equip equipment equipo equipped equivalent erot error errors erst ersten
    escape escol escort espa espec especial especially esper essa essay esse essential esta estable establish
    established estado estar estas estate estava este estim estimated esto estos estr estud etwas euro euros evalu
    evaluate evaluation even evening event events eventually ever every everyday everyone everything evid evidence
    exact exactly exam example examples exceed excel excellent except exception excess exchange excited exciting
    exclus exclusive execut execute execution executive exem exerc exercise exhib exist existe existence existing
    exists exit expand expect expectations expected expenses expensive exper experience experienced experiences
    experiment expert expertise experts expl explain explained explan explic explicit explore export exports expos
    exposed exposure express expressed expression extend extended extends extension extensive extent exterior
    extern external extr extra extract extrem extreme extremely eyes fabric face faces facil facilities facility
    facing fact factor factors factory facts fail failed failure fair faire fairly fais fait faith fake fall false
    famil familia familiar families family famous fans fant fantastic farm fasc fashion fast faster father fault
    faut favor favorite favour favourite fazer fear feature featured features featuring federal feed feedback feel
    feeling feelings feels fees feet fell fellow felt female fert fest festival fetch field fields fight fighting
    figure figures file filed filename files fill filled film films filter filters final finally financ finance
    financial find finden finding finds fine finger finish finished fire firm firms first fish fishing fitness fits
    five fixed flag flags flash flat flav flavor flex flexible flight float flood floor flow flowers fluid focus
    focused fois fold folder folks foll follow followed following follows fonction fond font food foods foot
    football foram force forced forces fore foreach forecast foreign forest forever forget form forma formal format
    formation formed former forms formula fort forth forum forward foto found foundation founded four fourth
    fprintf fragment fram frame framework free freedom frente frequ frequency frequently fresh friend friendly
    friends from front fruit frustr fuck fuel fuer full fully func funcion function functional functionality
    functions fund fundament fundamental funding funds funk funny furn furniture further future gaan gaat gain gall
    gallery gambling game games gaming gang ganz garage garant gard garden gast gather gave gear gebru gebruik geen
    gegen geht geld geme gender gene gener general generally generate generated generation generator generic genre
    gent gente genu gere gesch gest gets getting gibt gift gifts girl girls give given gives giving glad glass glob
    global goal goals goed goede goes going gold golf gone good goods google gore goto gover govern governing
    government grab grad grade gradu graduate gran grand grande grandes grant granted graph graphics grass grat
    gratis gratuit grav great greater greatest green grew grid grinding groot grote ground group groups grow
    growing grown growth grup grupo guarante guarantee guaranteed guard guess guest guests guid guidance guide
    guidelines guitar gust guys haar habe haben habit hace hacer hair half hall hand handle handler handling hands
    hang happ happen happened happening happens happy hard hardware harm hash hasta hate hatte have haven having
    head header headers heading health healthcare healthy hear heard hearing heart heat heav heavy hebben hebt
    hecho heeft heel height held hele hell help helped helpful helping helps here hero hers herself hidden hide
    hier high higher highest highlight highly himself hindi hire hist histor historia historical history hits hogy
    hoje hold holder holding holds hole holiday home homem homes honest honor hoog hook hope hoping hora horas horm
    horr horse hosp hospital host hosting hotel hotels hour hours hous house household houses housing however href
    html http https huge huis human humans hundred hundreds hurt husband hyper icon idea ideal ideas ident
    identified identify identity iets ignore igual ihre ikke illegal illness illustr imag image images imagine
    immediate immediately immer impact imper impl implement implementation implemented implements implied import
    importance important importante impossible impress impression impressive impro improve improved improvement
    improving inch inches incident incl inclu includ include included includes including inclus income incor
    incorpor incre increase increased increases increasing incred incredible incredibly increment inde indeed
    independ independent index indic indicate indiv individ individual individuals industrial industries industry
    infect infection infl influ influence info inform informatie information informed infrastructure ingredients
    inici init initi initial initialize injury inline inner innov innovation innovative input inputs insert inside
    insight insp inspir inspiration inspired inst instal install installation installed instance instanceof
    instances instant instead instit institution institutions instr instruction instructions instrument insurance
    inte integer integr integrated intellig intelligence intended intens intent inter interact interaction interes
    interess interest interested interesting interests interface interior intern internal international internet
    interpret interval interview into intr introdu introduced introduction invalid invent inventory invest investig
    investigation investment investors invol involved involves iron island isol isso issue issued issues item items
    iter itself jaar jack jamais java javafx javax jest jetzt jobs join joined joint jong jour journal journey
    jours json judge juga jump jusqu just justice justify kang kann kans keep keeping keeps keer keine kenn kept
    kernel keyboard keys kick kids kill killed kind kinds king kita kitchen kleine knew know knowing knowledge
    known knows koji komen kommer komt kont kort kost kosten krij kter kunnen kunt laat label labels labor lack
    lado lady lain land landscape lang lange language languages laptop larg large larger largest laser lassen last
    late laten later latest launch launched lava laws layer layers layout lead leader leaders leadership leading
    leads league learn learned learning least leather leave leaves leaving lebih lect leer left legal legend legis
    legisl legit legs leng length less lesson lessons lets lett letter letters letz leur leurs level levels leven
    lever libert libr library license licensed lies lieu life lifestyle lift light lighting lights ligne like liked
    likely likes limit limitations limited limits line linear lines link linked links liqu liquid list lista listed
    listen listener listening listing lists liter literature little live lived lives living llam lleg load loaded
    loading loan loans local located location locations lock logger logging logic login logo lombok long longer
    look looked looking looks loop lors lose losing loss lost lots love loved lovely loves lower lowest luck lucky
    lugar lunch luxury maar mach machen machine machines made magazine magic magn magnet mail main mainly maint
    maintain maintenance maior mais maison major majority maka make maken makes making male mana manage managed
    management manager managing mand mane manera mang manifest manip manner mant manual manufact manufacturer
    manufacturers manufacturing many mapping maps marca march marg margin mark marked marker market marketing
    markets marks marriage married mart mask mass massage massasje massive master mata match matches matching mater
    material materials math matrix matt matter matters maximum maybe mayor meal meals mean meaning means meant meas
    measure measures meat mechan media medic medical medicine medio medium meer meet meeting meetings mehr meille
    meio mejor melhor memb member members membership memory menc mend meng menj menos mens mensen ment mental
    mention mentioned menu meny merc mercado mere merge meses mesh mesmo mess message messages meta metadata metal
    meter method methods mich micro middle might migr migration mijn mile miles military milk mill million millions
    mind mine miner mineral minha mini minim minimal minimum mining minister minor minute minutes minutos mismo
    miss missed missing mission mist mixed mobil mobile mock modal mode model modelo models moder modern modified
    modify modo module modules moet moeten mogelijk moins mois moist mole moment momento moments mond monde money
    monitor monitoring mont month monthly months moral more morning mort mortgage most mostly mother motion motiv
    motor mount mountain mouse mouth move moved movement moves movie movies moving much mucho muchos muit muito
    mujer mulher mult multi multip multiple mund mundo municip murder muscle music musical muss must myself mysqli
    myst naar nach nacional nada name named names namespace narr narrow nation national native natur natural nature
    navigate navigation near nearby nearly neces necess necessarily necessary neck need needed needs negative neigh
    neighbor neighborhood nerv nett network networks neue neut never newly news newsp next nice nicht niet nieuwe
    night nights nine ning niveau nivel noch node nodes noise nombre nome none norm normal normally nors north nost
    note noted notes nothing notice noticed notification notify notre nous nouve nouveau nouvelle nova novel novo
    nuclear nuest nuestra nuestro nueva nuevo null nullptr number numbers numer numerous numpy nums nunca object
    objective objects objet objetivo oblig obra observ observed obst obtain obtained obvious obviously occas
    occasion occup occur occurred occurs oder offer offered offering offers offic office officer officers official
    officials offset often ohne olan olarak older oldu omdat once onde onder ones ongoing online only onto onze
    open opened opening opens oper operate operating operation operations operator opin opinion opinions oportun
    opportun opportunities opportunity oppos opposite optim optimal option optional options orden order ordered
    orders organ organic organis organiz organization organizations organized orient orig origin original
    originally oslo other others otherwise otra otras otro otros ourselves outcome outdoor output outras outro
    outros outside outstanding over overall override overs owned owner owners paar pack package packages packet
    pada padding page pages paid pain paint painting pair pand pandemic panel pang pant paper papers para param
    parameter parameters params parc pare parent parents park parking parl parse parser part parte partial partic
    particip participants participate particular particularly partie parties partir partner partners partnership
    parts party pass passe passed passing passion password past patch path paths patient patients pattern patterns
    paying payload payment payments pays peace pela pelo penal pendant peng pens pent pentru people peque perce
    percent percentage perd perf perfect perfectly perform performance performed performing perhaps period perm
    perman permanent permet permission permissions permit permite pero pers person persona personal personality
    personally personas personnel personnes persons perspective pert pesso pessoas petit peut peuvent pharm phase
    phen philosoph phone phot photo photograph photos phys physical pick picked pict picture pictures piece pieces
    pied pier pill pills pink pipe pitch plaats plac place placed placeholder places plain plan plane planet
    planned planning plans plant plants plastic plate platform platforms play played player players playing plays
    please pleased pleasure plenty plot plug plugin plus plusieurs poco podcast pode podem poder podr point pointer
    points pois poker polic police policies policy polit political politics poll poly pont pool poor popul popular
    population porn porno porque port portfolio portion pose posit position positions positive poss possess
    possibility possible possibly post posted poster posting posts potential potentially pour pouvez powder power
    powerful pract practical practice practices prakt prec precis pred predict prefer preferred prefix preg pregn
    prem premi premier premium prendre prepar preparation prepare prepared pres presence present presentation
    presente presented presents president presidente press pressure prest pret pretty prev prevent previous
    previously price prices pricing prim prima primarily primary prime primeiro primer primera prin princip
    principal principles print printed printf prior priority pris prison priv privacy private privile prix prob
    probably probl proble problem problema problemas problems proc proced procedure procedures proceed proces
    proceso process processed processes processing processo prod produ produce produced producer producing product
    production productos products produits produk prof profes profesional profession professional professionals
    professor profile profit program programa programme programming programs progress proj project projects projet
    prom promise promot promote promotion prompt pron proof prop proper properly properties property propos
    proposal propose proposed props pros prot prote protect protected protection protein protest protocol proud
    prov prove proven provid provide provided provider providers provides providing proxy prze przy psych public
    publication publish published pued puede pueden puis pull pulled pump punt punto purch purchase purchased
    purchasing pure purpose purposes purs push puts putting python qual qualified quality qualquer quand quando
    quant quantity quanto quart quarter qued quel quelques quem quer query quest question questions queue quick
    quickly quien quiet quite quot quote quotes race radi radio radius rail rain rais raise raised rand random
    range rank rapid rapport rare rate rates rather rating ratio reach reached react reaction read reader readers
    reading readonly ready real reality realiz realizar realize realized really rear reason reasonable reasons rece
    receive received receiving recent recently recher recht recipe recipes recogn recognize recognized recom recomm
    recommend recommendations recommended recon record recorded recording records recover recovery recruit rect
    recycl rede redirect redis redistribute redu reduce reduced reduction refer reference referred reflect reform
    refr refresh refund regard regarding regardless region regional regions register registered registr
    registration regul regular regularly regulations rein reject relacion related relation relations relationship
    relationships relative relatively relax rele release released relev relevant reli reliable relief relig
    religion religious remain remaining remains remark remember remind remote removal remove removed rend render
    renew renov rent rental repair repe repeat repeated replace replaced replacement reply report reported
    reporting reports repository repr represent representation represents reprodu reput reputation requ request
    requested requests require required requirement requirements requires research researchers reserv reserved
    reset resid residential residents resist resistance resolution resolve resort resource resources resp respect
    respectively respond respons response responses responsibility responsible rest restaur restaurant restaurants
    restore restr result resultado resultados resulting results resume retail retr retro return returned returning
    returns reun reve revealed revel revenue reverse review reviews revis reward rice rich ride rien right rights
    ring rise risk risks river road robot rock role roles roll rond roof room rooms root rose rotation rough round
    rout route router routes routine rows rule rules rund running runs rural rust saber safe safety said salary
    sale sales salt same samen sample samples sand sang sans sant satisf satisfaction satisfied sauce save saved
    saving savings savoir saying says scale scan scen scene sche schedule scheduled schema scheme schn scholar
    schon school schools science scient scientific scope score scores scre screen script scroll search searching
    season seat second secondary seconds secret section sections sector secure security seed seeing seek seeking
    seem seemed seems seen segment segu seguir segunda segundo sehr sein seine seit seja selbst sele select
    selected selection selector self sell seller selling semana semi sempre send sender sending sendo senior sens
    sense sensitive sensor sent sentence separ separate sept sequence sera serial serie series serious seriously
    serv serve served server serves servi service services serving session sessions sets sett setting settings
    setup seus seven sever several severe sexo sexual sexy shadow shall shape share shared shares sharing sheet
    shel shell shift ship shipping shock shoes shoot shooting shop shopping shops short shot should show showed
    shower showing shown shows shut sich sick side sides sido siempre sight sign signal signature signed signific
    significant significantly signs sigu silver similar simpl simple simply since sind sing single singles sink
    sino sist sistem sistema sister site sites sitting situ situation situations size sizeof sizes skal skill
    skills skin skip slee sleep slight slightly slot slots slow slowly small smaller smart smartphone smile smooth
    snap snel snow sobre soci social society socket soft software soil soit solar sold sole solic solid soll sollte
    solo solution solutions solve some someone something sometimes somewhat somewhere sondern song songs sono sont
    soon sorry sort sorted soul sound sounds sour source sources sous south sowie space spaces span spark speak
    speaking spec special specialist species specific specifically specified spect speech speed spel spend spending
    spent spin spirit spiritual split spoke spons sport sports spot spread spring square staat stabil stable stack
    stad staff stage stake stand standard standards standing stands star stars start started starting starts stat
    state stated statement statements states static station statist statistics stats status stay staying steel stem
    step steps ster stick still stim stock stone stop stopped stor storage store stored stores stories storm story
    stra straight strateg strategic strategies strategy stre stream streaming street strength stress stretch strict
    string strings strip stroke strong struct structure structures strugg stuck stud student students studies
    studio study stuff stunning styl style styled styles suas subject subjects submit submitted subs subscription
    substant substantial substit succ succeed success successful successfully such sudden suff suffer sufficient
    sugar suggest suggested suggestions suggests suis suit suitable suite suiv summ summary summer super superior
    supp supplement supplies supply support supported supporting supports supposed sure surface surg surgery surpr
    surprise surprised surround surrounding surv surve survey susp sust sustain sustainable sweet switch symbol
    sympt symptoms sync synchron synt syst system systems table tables tablet tack tact tags tail take taken takes
    taking talent talk talking tall tamb tang tank tant tanto target targets task tasks taste taught taxes teach
    teacher teachers teaching team teams tech techn technical technique techniques technologies technology tecn
    teen teeth tegen tele television tell telling tells tema temp temper temperature template tempo tempor
    temporary temps tend tener tent term termin terminal terms terr terror terug test tested testing tests text
    texture than thank thanks that their them theme themselves then theory therap therapy there therefore therm
    these they thick thin thing things think thinking third this thorough those though thought thoughts thous
    thousands thread threat three threshold through throughout throw throws thus ticket tickets tidak tiempo tiene
    tienen tight tijd tile till time timeout timer times ting tiny tipo tips title titles toch toda todas today
    todo todos together togg token tokens told toler tomorrow tone tons took tool tools topic topics torch torn
    tort total totally touch tough toujours tour tous tout toute toutes toward towards town trab trabaj trabajo
    trabal trabalho trace track tracking tracks trad trade trading tradition traditional traff traffic trail train
    trained training trait tran trans transaction transactions transfer transform transition transl translation
    transmission transport transportation tras trat trav travail travel treat treated treatment tree trees trem
    trend trends tres trial trib tried trigger trim trip tritur trong trop trou trouble trouver truck true truly
    trust truth trying tube tudo turn turned turning turns tussen tutorial twee twice type typeof types typical
    typically uint ultimate unable undefined under underst understand understanding undert uniform union unique
    unit units univers university unknown unless unos unser unsere unsigned unter until untuk upcoming update
    updated updates upgrade upload upon upper urban usage usar used useful user username users uses using usual
    usually usuario util utilis utiliz utilize vacation vacc vale valid validate validation valor valu valuable
    value values vari variable variables variant variety various vary vast vector veel veget vehicle vehicles vend
    vent verb verd verg verify verk verm vers versch verschill version versions vert vertical verv verw very verz
    vest veter viagra vibr vice vict victory vida vide video videos viel viele vier view views vill village ville
    vind vinden viol violence virt virtual virus visible vision visit visited visiting visitors vista visual vital
    voice void voir volt volume volunte voor vote votes votre vous vrij vrou vulner waar wait waiting wake walk
    walked walking wall wallet walls want wanted wants ware waren warm warn warning warrant warranty wash wasn
    waste watch watching water wave ways weak wealth wear wearing weather website websites wedding week weekend
    weekly weeks weer weight weit weiter welcome well wenn went werd werden were werk west what whatever wheel when
    whenever where whether which while white whole whom whose wide widely widget width wieder wife wild will
    willing wind window windows wine winner winning winter wird wire wish with withdraw within without witness
    woman women wonder wonderful wood word worden words wordt work worked worker workers working works world
    worldwide worry worse worst worth would wouldn wrap writ write writer writers writing written wrong wrote wurde
    wurden yang yard year years yellow yesterday yield young younger your yourself youth zelf zero zich zien zijn
    zoals zona zonder zone zoom zwei zwischen
    """.split()  # noqa: SIM905 - a list of them would take as many lines as words
)
