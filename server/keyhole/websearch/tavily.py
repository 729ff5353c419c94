"""Tavily's search API. Asks for excerpts, never for whole pages, generated answers or images."""

from __future__ import annotations

from typing import Final

from keyhole.fetch.base import Api, ApiCall, ApiReply
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.asked import count, fitted, post
from keyhole.websearch.base import hits_from
from keyhole.websearch.faults import shaped, understood

BASE_URL: Final = "https://api.tavily.com"
MAX_CHARS: Final = 400
"""Of a query; more is refused with 400."""
MAX_COUNT: Final = 20

_COUNTRIES: Final = {
    name[:2]: name[3:]
    for name in (
        "af afghanistan,al albania,dz algeria,ad andorra,ao angola,ar argentina,am armenia,au australia,at austria,"
        "az azerbaijan,bs bahamas,bh bahrain,bd bangladesh,bb barbados,by belarus,be belgium,bz belize,bj benin,"
        "bt bhutan,bo bolivia,ba bosnia and herzegovina,bw botswana,br brazil,bn brunei,bg bulgaria,bf burkina faso,"
        "bi burundi,kh cambodia,cm cameroon,ca canada,cv cape verde,cf central african republic,td chad,cl chile,"
        "cn china,co colombia,km comoros,cg congo,cr costa rica,hr croatia,cu cuba,cy cyprus,cz czech republic,"
        "dk denmark,dj djibouti,do dominican republic,ec ecuador,eg egypt,sv el salvador,gq equatorial guinea,"
        "er eritrea,ee estonia,et ethiopia,fj fiji,fi finland,fr france,ga gabon,gm gambia,ge georgia,de germany,"
        "gh ghana,gr greece,gt guatemala,gn guinea,ht haiti,hn honduras,hu hungary,is iceland,in india,id indonesia,"
        "ir iran,iq iraq,ie ireland,il israel,it italy,jm jamaica,jp japan,jo jordan,kz kazakhstan,ke kenya,kw kuwait,"
        "kg kyrgyzstan,lv latvia,lb lebanon,ls lesotho,lr liberia,ly libya,li liechtenstein,lt lithuania,"
        "lu luxembourg,mg madagascar,mw malawi,my malaysia,mv maldives,ml mali,mt malta,mr mauritania,mu mauritius,"
        "mx mexico,md moldova,mc monaco,mn mongolia,me montenegro,ma morocco,mz mozambique,mm myanmar,na namibia,"
        "np nepal,nl netherlands,nz new zealand,ni nicaragua,ne niger,ng nigeria,kp north korea,mk north macedonia,"
        "no norway,om oman,pk pakistan,pa panama,pg papua new guinea,py paraguay,pe peru,ph philippines,pl poland,"
        "pt portugal,qa qatar,ro romania,ru russia,rw rwanda,sa saudi arabia,sn senegal,rs serbia,sg singapore,"
        "sk slovakia,si slovenia,so somalia,za south africa,kr south korea,ss south sudan,es spain,lk sri lanka,"
        "sd sudan,se sweden,ch switzerland,sy syria,tw taiwan,tj tajikistan,tz tanzania,th thailand,tg togo,"
        "tt trinidad and tobago,tn tunisia,tr turkey,tm turkmenistan,ug uganda,ua ukraine,ae united arab emirates,"
        "gb united kingdom,us united states,uy uruguay,uz uzbekistan,ve venezuela,vn vietnam,ye yemen,zm zambia,"
        "zw zimbabwe"
    ).split(",")
}
"""Values of `country` by ISO 3166-1 code; any other is refused (docs.tavily.com, endpoint search)."""


class TavilyEngine:
    """Tavily with an API key. It prefers a country's pages for `web` only, and knows no languages."""

    name = "tavily"
    applies = frozenset({"sites", "exclude_sites", "freshness", "country", "news"})

    def __init__(self, key: str, api: Api, base_url: str = BASE_URL) -> None:
        self._key = key
        self._api = api
        self._base_url = base_url

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """The results in Tavily's order."""
        return parse(await self._api.ask(api_call(self._base_url, self._key, request)), self._key)


def api_call(base_url: str, key: str, request: SearchRequest) -> ApiCall:
    """The call for a request; the basic depth costs one credit."""
    news = request.kind == "news"
    fields = {
        "query": fitted(request.query, MAX_CHARS),
        "topic": "news" if news else "general",
        "search_depth": "basic",
        "max_results": count(request, MAX_COUNT),
        "time_range": request.freshness,
        "include_domains": list(request.sites),
        "exclude_domains": list(request.exclude_sites),
        "country": "" if news else _COUNTRIES.get(request.country.lower(), ""),
        "include_answer": False,
        "include_raw_content": False,
        "include_images": False,
    }
    return post(f"{base_url.rstrip('/')}/search", fields, {"Authorization": f"Bearer {key}"})


def parse(reply: ApiReply, key: str) -> tuple[Hit, ...]:
    """The hits of an answer; only news have dates."""
    answer = understood(reply, "tavily", key)
    with shaped("tavily"):
        return hits_from(answer["results"], ("url", "title", "content"), "tavily", "published_date")
