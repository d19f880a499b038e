# Several templates, of which the gateway carries one; ah and comp beside it.
ip xfrm policy add dir out src 10.0.0.0/24 dst 10.0.1.0/24 tmpl proto comp reqid 1 level use tmpl proto esp reqid 2
ip xfrm policy list
ip -s xfrm policy list
